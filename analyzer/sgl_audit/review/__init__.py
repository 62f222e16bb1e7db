"""The pre-upgrade review: two trees compared, in order of harm."""
