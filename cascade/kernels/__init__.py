"""Pure array functions compiled by numba. Nothing here knows of configs, files or classes of ours."""

from cascade.kernels.cache import find_cache

find_cache()
