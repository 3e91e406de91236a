"""Pure array functions, most of them compiled by numba. Nothing here knows of configs, files or classes of ours."""
