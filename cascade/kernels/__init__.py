"""Pure array functions compiled by numba. Nothing here knows of configs, files or classes of ours."""
