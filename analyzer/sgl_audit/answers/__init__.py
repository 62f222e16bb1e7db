"""Answers that were given before, kept on disk: the same question of the same bytes is not worked
out twice."""

from sgl_audit.answers.keys import folder_key, key_of, tree_key
from sgl_audit.answers.store import AnswerStore

__all__ = ["AnswerStore", "folder_key", "key_of", "tree_key"]
