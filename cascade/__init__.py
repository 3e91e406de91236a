"""cascade finds and removes near-duplicate texts with a chain of ever more exact stages."""
