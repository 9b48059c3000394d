"""The verbs: one function per thing a user can do, the same for pages and command line.

workspace    the open database, the collector and the keys of this process
banks        question banks: edit, undo, publish, compare, import, export
respondents  models on offer: add, test, list models, keys
studies      designs: size, example, freeze
collection   runs: start, pause, stop, progress
answers      what was said, row by row; import and export of answers
statistics   analyses
sample       the sample study
"""
