"""The graph of a tree: what decides, allows, refuses and carries each backend value."""

from sgl_audit.graph.build import build_graph
from sgl_audit.graph.export import FORMATS, export_graph

__all__ = ["FORMATS", "build_graph", "export_graph"]
