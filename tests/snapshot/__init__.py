"""Numbers, charts, scripts and exports of fixed studies as files, to compare two states of Inkblot.

`make snapshot` writes them into a folder. The same state writes the same bytes, so that after a
restructuring `diff -r before after` shows what has changed.

studies   the studies: simulated and imported, with what their analyses need
cases     the options each analysis is run with, read from the registry
results   one result as files
exports   studies, banks, contexts and plans as files
"""
