"""What the analyses of factor models share: model texts, tables, comparisons."""
