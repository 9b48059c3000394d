"""What analyses are built with: groups, estimates, tables, sentences, results.

An analysis holds the psychology: what it estimates for a group, and how a sentence is made of it.
What surrounds a number (its columns, its interval, its notes, the counts of scores) stands here.
"""
