"""Launches as people have them: lines, files, batches, model files and assumptions. Only read."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sgl_audit.launch.assume import ASSUMPTIONS, parse_assumptions
    from sgl_audit.launch.batch import read_batch
    from sgl_audit.launch.config_values import read_config_values
    from sgl_audit.launch.hub import hub_cache
    from sgl_audit.launch.line import LaunchLine, one_launch
    from sgl_audit.launch.modelfiles import ModelFiles, find_model, load_config
    from sgl_audit.launch.parse import LaunchForm, parse_launch_lines, read_launch_file
    from sgl_audit.launch.quantization import describe_quantization
    from sgl_audit.launch.synthetic import QUANTIZATIONS, assumed_attributes, synthetic_config

__all__ = [
    "ASSUMPTIONS",
    "QUANTIZATIONS",
    "LaunchForm",
    "LaunchLine",
    "ModelFiles",
    "assumed_attributes",
    "describe_quantization",
    "find_model",
    "hub_cache",
    "load_config",
    "one_launch",
    "parse_assumptions",
    "parse_launch_lines",
    "read_batch",
    "read_config_values",
    "read_launch_file",
    "synthetic_config",
]

# Reading them all takes longer than a kept answer; most commands need few.
_WHERE = {
    "ASSUMPTIONS": "assume",
    "LaunchForm": "parse",
    "LaunchLine": "line",
    "ModelFiles": "modelfiles",
    "QUANTIZATIONS": "synthetic",
    "assumed_attributes": "synthetic",
    "describe_quantization": "quantization",
    "find_model": "modelfiles",
    "hub_cache": "hub",
    "load_config": "modelfiles",
    "one_launch": "line",
    "parse_assumptions": "assume",
    "parse_launch_lines": "parse",
    "read_batch": "batch",
    "read_config_values": "config_values",
    "read_launch_file": "parse",
    "synthetic_config": "synthetic",
}


def __getattr__(name: str) -> object:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
