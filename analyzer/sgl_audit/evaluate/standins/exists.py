"""Which distributions and modules exist outside the tree.

Assumes: everything the distribution's metadata requires (extras aside) is installed in the pinned
version, with the companions those bring; nothing else is. A source without metadata says nothing
of what is installed: then everything known here is, in a version that is not known.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

# Import name where it is not the distribution's name.
MODULES = {
    "pillow": ("PIL",),
    "pyzmq": ("zmq",),
    "pyyaml": ("yaml",),
    "python-multipart": ("multipart", "python_multipart"),
    "nvidia-ml-py": ("pynvml",),
    "sgl-kernel": ("sgl_kernel", "deep_gemm", "flash_mla"),
    "sglang-kernel": ("sgl_kernel", "deep_gemm", "flash_mla"),
    "sgl-deep-gemm": ("deep_gemm",),
    "flashinfer-python": ("flashinfer",),
    "flashinfer-cubin": ("flashinfer_cubin",),
    "flash-attn-4": ("flash_attn",),
    "nvidia-cutlass-dsl": ("cutlass", "nvidia_cutlass_dsl"),
    "quack-kernels": ("quack",),
    "cuda-python": ("cuda",),
    "opencv-python-headless": ("cv2",),
    "gitpython": ("git",),
    "protobuf": ("google",),
    "grpcio": ("grpc",),
    "grpcio-health-checking": ("grpc_health",),
    "grpcio-reflection": ("grpc_reflection",),
    "smg-grpc-proto": ("smg_grpc_proto",),
    "python-dateutil": ("dateutil",),
    "ipython": ("IPython",),
    "compressed-tensors": ("compressed_tensors",),
    "llguidance": ("llguidance",),
    "apache-tvm-ffi": ("tvm_ffi",),
    "mistral-common": ("mistral_common",),
    "openai-harmony": ("openai_harmony",),
    "torch-memory-saver": ("torch_memory_saver",),
    "prometheus-client": ("prometheus_client",),
    "partial-json-parser": ("partial_json_parser",),
    "huggingface-hub": ("huggingface_hub",),
    "scikit-learn": ("sklearn",),
    "msgpack-python": ("msgpack",),
    "decord2": ("decord",),
    "py-spy": ("py_spy",),
    "kernels": ("kernels",),
}
# What these bring along whatever the metadata says.
COMPANIONS = [
    "numpy",
    "torch",
    "triton",
    "tokenizers",
    "huggingface_hub",
    "yaml",
    "jinja2",
    "safetensors",
    "regex",
    "typing_extensions",
    "requests",
    "filelock",
    "fsspec",
    "sympy",
    "networkx",
    "packaging",
    "pydantic",
    "starlette",
    "anyio",
    "httpx",
    "setuptools",
    "pkg_resources",
    "psutil",
    "tqdm",
    "certifi",
    "charset_normalizer",
    "idna",
    "urllib3",
    "markupsafe",
    "sgl_kernel",
    "deep_gemm",
    "cuda",
    "cutlass",
    "nvidia",
    "dateutil",
    "PIL",
    "attr",
    "attrs",
    "click",
    "pip",
    "wheel",
    "mpmath",
    "cffi",
    "six",
    "pydantic_core",
    "annotated_types",
    "rich",
    "pygments",
    "h11",
    "sniffio",
    "pybase64",
    "google",
    "transformers",
    "triton_kernels",
    "dill",
    "multiprocess",
    "pandas",
    "pyarrow",
    "xxhash",
    "aiohttp",
    "fastapi",
    "uvicorn",
]
# Torch requires one Triton release each (its own metadata says which).
TRITON_OF_TORCH = {"2.7": "3.3.1", "2.8": "3.4.0", "2.9": "3.5.1", "2.10": "3.6.0"}
# Submodules of existing packages that do not exist, or only on other platforms.
ABSENT_MODULES = frozenset(
    ["torch.npu", "torch_npu", "triton.language.extra.hip_missing", "transformers.models.missing"]
)


class Existing:
    """Answers whether something outside the tree can be imported."""

    def __init__(self, standins: Standins) -> None:
        self.standins = standins
        self._roots: set[str] | None = None

    @property
    def denied(self) -> set[str]:
        """Import names of what is said not to be installed."""
        return {
            module
            for name, version in self.standins.world.packages.items()
            if version is None
            for module in MODULES.get(name, (name.replace("-", "_"),))
        }

    @property
    def roots(self) -> set[str]:
        """Import names of everything installed."""
        if self._roots is None:
            self._roots = self._installed()
        return self._roots

    def _installed(self) -> set[str]:
        roots = set(COMPANIONS)
        world = self.standins.world
        if not world.has_metadata:
            roots.update(module for modules in MODULES.values() for module in modules)
        for pin in world.distribution.requires:
            if pin.extra is None:
                roots.update(MODULES.get(pin.name, (pin.name.replace("-", "_"),)))
        for name, version in world.packages.items():
            listed = MODULES.get(name, (name.replace("-", "_"),))
            if version is None:
                roots.difference_update(listed)
            else:
                roots.update(listed)
        return roots

    def root(self, name: str) -> bool:
        """Whether a top-level module exists."""
        if name in sys.stdlib_module_names:
            return True
        if name == "flashinfer":
            self.standins.world.ask("flashinfer")
        return name in self.roots

    def is_known(self, distribution: str) -> bool:
        """Whether a distribution is one that this table knows."""
        return distribution in MODULES or distribution.replace("-", "_") in COMPANIONS

    def submodule(self, name: str) -> bool:
        """Whether a submodule of an existing package exists; assumed unless known otherwise."""
        return name not in ABSENT_MODULES

    def absent_name(self, module: str, name: str) -> bool:
        """Whether a name is known to be missing from an existing module."""
        return f"{module}.{name}" in ABSENT_MODULES

    def version_of_module(self, module: str) -> str | None:
        """`__version__` of a top-level module, from the pins."""
        world = self.standins.world
        if "." in module:
            return None
        if module == "triton" and world.package_version("triton") is None:
            torch = ".".join((world.package_version("torch") or "").split(".")[:2])
            return TRITON_OF_TORCH.get(torch)
        for distribution, modules in MODULES.items():
            if module in modules and (found := world.package_version(distribution)):
                return found
        return world.package_version(module.replace("_", "-"))
