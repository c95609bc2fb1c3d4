"""A run's folder as plain files: what is in it, and whether it is what it says.

Needs no trainer and no catalog, so that a folder that was copied anywhere can be checked there.

* `layout`: the names of the files
* `curves`: the table of curves, written and read back to the last bit
* `checksums`: `checksums.txt`, written and read
* `pickles`: what a saved training state would call when it is loaded
* `verify`: every file against every other
"""
