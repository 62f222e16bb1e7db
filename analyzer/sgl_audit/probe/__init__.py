"""Runs of the actual server: start it, judge what it answers, keep the evidence."""
