"""From raw text to shingles: normalising, tokenising, shingling. Knows nothing of files, stages or plans."""
