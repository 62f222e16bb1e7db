"""Environment variables as typed descriptors."""

import os
from typing import Any


class EnvField:
    def __init__(self, default: Any):
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name

    def parse(self, text: str) -> Any:
        raise NotImplementedError

    def get(self) -> Any:
        return self.parse(os.environ[self.name]) if self.is_set() else self.default

    def is_set(self) -> bool:
        return self.name in os.environ

    def __bool__(self):
        raise RuntimeError("Ask envs.NAME.get(), not envs.NAME.")


class EnvStr(EnvField):
    def parse(self, text: str) -> str:
        return text


class EnvBool(EnvField):
    def parse(self, text: str) -> bool:
        return text.lower() in ("1", "true", "yes")


class Envs:
    SGLANG_IS_FLASHINFER_AVAILABLE = EnvBool(True)
    # Deprecated: use --fp4-gemm-backend.
    SGLANG_FLASHINFER_FP4_GEMM_BACKEND = EnvStr("")


envs = Envs()
