"""The verbs: one function per thing a user can do, the same for pages and command line.

opening      the workspace of a database file, filled with what comes with Inkblot
workspace    the open database and the keys of this process; it knows no verb
banks        question banks: edit, undo, publish, compare, import, export
respondents  models on offer: add, test, list models, keys
contexts     personas and conversations
templates    the words around an item
studies      designs: size, example, freeze (with plan_size, questions, presets, prices)
phases       asking again with the opposite opinion
collection   runs: start, pause, stop, progress
coding       what a reply comes to; recoding reads replies again; audits compare with a person
answers      what was said, row by row; import and export of answers
texts        texts that models write: prompts for them, counts, ratings
statistics   analyses
sample       the sample study
"""
