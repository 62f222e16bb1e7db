"""Frozen values that cross package boundaries. Nothing here reads files or decides anything."""
