"""Which device images a prebuilt wheel or shared object carries, without CUDA tools."""

from sgl_audit.kernels.binary.coverage import covers
from sgl_audit.kernels.binary.reader import Limits, read_binary

__all__ = ["Limits", "covers", "read_binary"]
