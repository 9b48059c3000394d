"""Question banks: editing with undo, versions, grids, drafts by models, banks of prompts."""
