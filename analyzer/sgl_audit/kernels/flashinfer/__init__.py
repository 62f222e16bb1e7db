"""Where FlashInfer's functions work, read from its Python source without importing it."""

from sgl_audit.kernels.flashinfer.output import requirements_to_json
from sgl_audit.kernels.flashinfer.reading import Reader, read_requirements

__all__ = ["Reader", "read_requirements", "requirements_to_json"]
