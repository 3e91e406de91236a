"""The built-in stages, one file each, found through the entry-point group `cascade.stages` like anybody else's."""
