"""Analyses in processes beside the server, which can be ended and have a bound of memory.

In the order of their work: `running` is asked for an analysis and waits for its turn; `launching`
starts a process or takes an idle one; `handover` gives it the frames; `process` is what it runs.
"""
