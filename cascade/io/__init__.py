"""Input and output: the only package that opens data files. What a row means to the cascade is decided elsewhere."""
