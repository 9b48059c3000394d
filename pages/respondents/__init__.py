"""The page Respondents."""
