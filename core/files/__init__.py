"""Reading and writing the files users bring and take: banks, answers, contexts, templates.

Reading order: guard (text that a spreadsheet must not take for a formula), reading (bytes to a
table of text cells), then one module for each kind of file: instrument_files with its parts bank_*,
tidy with its parts tidy_*, context_files with its parts context_* and conversation_*, and
template_files.
"""
