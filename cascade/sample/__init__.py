"""A small corpus for `cascade demo`: copies, near-copies, rewordings, pages from a template, in several scripts."""
