"""Reading and writing the files of users: banks, answers, contexts, templates.

writing    text that is safe in a spreadsheet, CSV lines, workbooks, files on disk
tables     a table of text cells from CSV or Excel
yaml_files YAML of a declared shape
banks      question banks; tidy: answers; contexts: personas and conversations; templates: prompts
"""
