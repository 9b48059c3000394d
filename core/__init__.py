"""Everything Inkblot does, with no Streamlit in it.

Read in this order: domain (the nouns), store (where they live), files (how banks and answers come
and go), collect (how models are asked), psychometrics (statistics of arrays), analysis (what the
answers mean), workflow (the verbs that pages and command line call).
"""
