"""Facts of a tree: choices, options, enums, gates, variables, decisions and rejections."""

from sgl_audit.extract.gates import GateSite, GateValues
from sgl_audit.extract.reads import ConditionalName
from sgl_audit.extract.relations import Relation
from sgl_audit.extract.tree import (
    Extraction,
    coverage,
    extract,
    extract_facts,
)

__all__ = [
    "ConditionalName",
    "Extraction",
    "GateSite",
    "GateValues",
    "Relation",
    "coverage",
    "extract",
    "extract_facts",
]
