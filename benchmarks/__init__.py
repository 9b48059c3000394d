"""How fast Inkblot is and how much memory it takes, against doing the same without Inkblot.

`python -m benchmarks` measures everything and writes docs/benchmarks.md;
`python -m benchmarks NAME --quick` shows in seconds that one of them still runs.
"""
