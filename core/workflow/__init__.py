"""What a user can do, one function each: pages and the command line call the same functions.

workspace    the open database and the keys of this process
opening      opens a database file, and fills a new one with what comes with Inkblot
saved_inputs typed input of the pages, saved until it is used
prompts      prompt templates, and the request of each planned call
sample       the short sample study
tour         the sample studies with which every page has numbers
next_steps   what to do next with each study
search       finds pages, analyses and words of the glossary
background   work in the background: started once, watched from any page, stopped when asked
preloading   loads packages before the first page needs them
banks        editing (save, undo, publish, import, export), grid, drafting by a model, text_prompts
respondents  catalog (add, test, keys, prices), forms, service_settings
contexts     sets of personas and conversations, rewriting them with a model
designs      forms, checks, presets of published designs, studies (freeze, second phase)
runs         control (start, pause, stop, progress), collector, reading of replies, amendments
answers      browsing, imports, exports, bank_attachment, audits, rereading of replies, texts
statistics   analyses (run one), computing in the background, frames, factor_models
"""
