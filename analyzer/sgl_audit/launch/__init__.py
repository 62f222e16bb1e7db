"""Launches as people have them: lines, files, batches, model files and assumptions. Only read."""

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
