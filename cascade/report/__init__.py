"""HTML pages for people: what a run has done, and pairs to judge. Nothing is decided or computed anew about pairs."""
