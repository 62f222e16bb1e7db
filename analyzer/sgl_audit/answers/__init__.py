"""Answers that were given before, kept on disk: the same question of the same bytes is not worked
out twice."""

from sgl_audit.answers.canonical import digest_of_value
from sgl_audit.answers.keys import folder_key, key_of, tree_key
from sgl_audit.answers.pieces import by_content
from sgl_audit.answers.store import AnswerStore
from sgl_audit.answers.traced import ReadTree, Trace, traced

__all__ = [
    "AnswerStore",
    "ReadTree",
    "Trace",
    "by_content",
    "digest_of_value",
    "folder_key",
    "key_of",
    "traced",
    "tree_key",
]
