"""The configuration of a team: its defaults, rules, suppressions and baseline."""
