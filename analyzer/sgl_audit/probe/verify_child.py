"""Runs SGLang's own resolver in the interpreter that has it. Started by path, never imported by us.

    PY verify_child.py REQUEST ANSWERS

REQUEST is a JSON object: `launches` (each `id`, `argv`, `environment`), `names` (fields to read),
and `fake`: null, or the machine to pretend: `capability`, `device_name`, `memory_mib`, `gpu_count`,
`cuda`, `cudnn`, `torch`, `pins` (distribution -> version), `roots` (modules that may be stubbed).
ANSWERS gets one JSON object a line. Each launch runs in a fork of its own, so that variables,
caches and globals that one writes never reach the next.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

# A stub is used where a distribution that SGLang requires is not installed here.
STUBBED: set[str] = set()
CALLED: set[str] = set()


class _Inert(type):
    """A class whose attributes are such classes, that can be called, subclassed and subscripted."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _inert(f"{cls.__name__}.{name}")

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__dict__.get("_inert"):
            CALLED.add(cls.__name__)
            # As a decorator it changes nothing.
            if len(args) == 1 and not kwargs and callable(args[0]):
                return args[0]
            return cls
        return super().__call__(*args, **kwargs)

    def __getitem__(cls, key: Any) -> Any:
        return cls


def _inert(name: str) -> Any:
    return _Inert(name, (), {"_inert": True})


class _Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of required distributions that are not here. Asked last, so real ones win."""

    def __init__(self, roots: list[str]) -> None:
        self.roots = set(roots)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        root = name.partition(".")[0]
        if root not in self.roots:
            return None
        STUBBED.add(root)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        def missing(name: str) -> Any:
            if name.startswith("__") and name != "__version__":
                raise AttributeError(name)
            if name == "__version__":
                return "0"
            return _inert(f"{module.__name__}.{name}")

        module.__getattr__ = missing  # type: ignore[method-assign]


def pretend(fake: dict[str, Any]) -> None:
    """Make this process see another machine. What is faked is listed in docs/verify.md."""
    _pretend_packages(fake["pins"])
    finder = _Stubs(fake["roots"])
    _force_broken(finder)
    sys.meta_path.append(finder)
    _pretend_torch(fake)
    _pretend_nvml()
    _pretend_triton(fake)


def _pretend_packages(pins: dict[str, str]) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        pinned = pins.get(name.lower().replace("_", "-"))
        return pinned if pinned is not None else real(name)

    importlib.metadata.version = version  # type: ignore[assignment]


def _force_broken(finder: _Stubs) -> None:
    """Stub what is here and cannot be imported: a CUDA build beside a CPU torch."""
    for root in ("torchvision", "torchaudio"):
        if root in finder.roots and importlib.util.find_spec(root) is not None:
            try:
                importlib.import_module(root)
            except Exception:
                for name in [n for n in sys.modules if n.partition(".")[0] == root]:
                    del sys.modules[name]
                first = _Stubs([root])
                sys.meta_path.insert(0, first)


def _pretend_torch(fake: dict[str, Any]) -> None:
    import torch

    cuda: Any = torch.cuda
    major, minor = fake["capability"]
    total = fake["memory_mib"] << 20

    def properties(*args: Any) -> Any:
        return types.SimpleNamespace(
            name=fake["device_name"],
            major=major,
            minor=minor,
            total_memory=total,
            multi_processor_count=132,
            gcnArchName="",
            shared_memory_per_block_optin=232448 if major in (9, 10) else 101376,
        )

    answers = {
        "is_available": lambda: True,
        "device_count": lambda: fake["gpu_count"],
        "_device_count_nvml": lambda: fake["gpu_count"],
        "get_device_capability": lambda *args: (major, minor),
        "get_device_name": lambda *args: fake["device_name"],
        "get_device_properties": properties,
        "current_device": lambda: 0,
        "set_device": lambda *args: None,
        "is_initialized": lambda: False,
        "synchronize": lambda *args: None,
        "empty_cache": lambda: None,
        "is_bf16_supported": lambda *args, **kwargs: major >= 8,
        "mem_get_info": lambda *args: (total, total),
        "init": lambda: None,
        "_lazy_init": lambda: None,
    }
    for name, answer in answers.items():
        setattr(cuda, name, answer)
    for name in ("Stream", "Event", "CUDAGraph"):
        setattr(cuda, name, _inert(f"torch.cuda.{name}"))
    version: Any = torch.version
    version.cuda, version.hip = fake["cuda"], None
    torch.__version__ = f"{fake['torch']}+cu{fake['cuda'].replace('.', '')}"
    numbers = [int(part) for part in f"{fake['cudnn']}.0.0".split(".")[:3]]
    cudnn: Any = torch.backends.cudnn
    cudnn.version = lambda: numbers[0] * 10000 + numbers[1] * 100 + numbers[2]
    cudnn.is_available = lambda: True
    library: Any = torch.library
    # Whether we put an empty module in its place or the user did.
    compiled = set(fake["roots"])
    register = library.register_fake

    def register_fake(op: Any, *args: Any, **kwargs: Any) -> Any:
        # The operator is one of a compiled library that is not here.
        if isinstance(op, str) and op.partition("::")[0] in compiled:
            return lambda function: function
        return register(op, *args, **kwargs)

    library.register_fake = register_fake


def _pretend_nvml() -> None:
    """NVML would tell the machine's own GPU, or that there is none: it counts as not installed."""
    module: Any = types.ModuleType("pynvml")

    class NVMLError(Exception):
        """As pynvml's own."""

    def fail(*args: Any) -> None:
        raise NVMLError("NVML Shared Library Not Found")

    module.NVMLError = NVMLError
    module.__getattr__ = lambda name: fail if name.startswith("nvml") else _raise(name)
    sys.modules["pynvml"] = module


def _raise(name: str) -> Any:
    raise AttributeError(name)


def _pretend_triton(fake: dict[str, Any]) -> None:
    try:
        from triton.backends.compiler import GPUTarget
        from triton.runtime.driver import driver
    except Exception:
        return
    major, minor = fake["capability"]
    target = GPUTarget("cuda", major * 10 + minor, 32)

    class Driver:
        """A driver that knows its target and nothing else."""

        def get_current_target(self) -> Any:
            """The faked capability."""
            return target

        def get_current_device(self) -> int:
            """The first."""
            return 0

        def __getattr__(self, name: str) -> Any:
            return _raise(name) if name.startswith("__") else _inert(f"triton.driver.{name}")

    driver.set_active(Driver())


def resolve(launch: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """One launch through SGLang's own parser, resolution and check."""
    os.environ.update(launch["environment"])
    from sglang.srt import server_args as module

    answer: dict[str, Any] = {"id": launch["id"]}
    try:
        record = module.prepare_server_args(list(launch["argv"]))
        later = getattr(record, "resolve_once", None)
        if later is not None:
            later()
        options = read_fields(record, names)
        check = getattr(record, "check_server_args", None)
        if check is not None:
            check()
    except SystemExit as error:
        return {**answer, "outcome": "rejected", "type": "SystemExit", "message": str(error)}
    except Exception as error:
        place = place_of(error)
        said = {"type": type(error).__name__, "message": str(error), **place}
        return {**answer, "outcome": "rejected", **said}
    return {**answer, "outcome": "ok", "options": options}


def read_fields(record: Any, names: list[str]) -> dict[str, Any]:
    """The fields after resolution. Newer records keep what was given, and have a method for it."""
    resolved = getattr(record, "resolved_dict", None)
    values = resolved() if resolved is not None else None
    if values is None:
        return {name: plain(getattr(record, name)) for name in names if hasattr(record, name)}
    found = {name: plain(values[name]) for name in names if name in values}
    return found | _as_resolved(record, found)


def _as_resolved(record: Any, found: dict[str, Any]) -> dict[str, Any]:
    """The fields of which that method tells clients something else than resolution left."""
    read = getattr(sys.modules[type(record).__module__], "resolution_result", None)
    if read is None:
        return {}
    simple = (bool, int, float, str, type(None))
    left = {name: read(record, name) for name, value in found.items() if isinstance(value, simple)}
    return {name: plain(value) for name, value in left.items() if isinstance(value, simple)}


def place_of(error: BaseException) -> dict[str, Any]:
    """The innermost line of SGLang's tree."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = frame.filename.replace("\\", "/")
        if "/sglang/" in path:
            return {"file": f"sglang/{path.rpartition('/sglang/')[2]}", "line": frame.lineno}
    return {"file": None, "line": None}


def plain(value: Any) -> Any:
    """The value as JSON has it; of anything else the text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return getattr(value, "value", value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return getattr(value, "value", str(value))


def load_early(names: list[str]) -> None:
    """Import here what a fork imported late, so that the next fork need not: it takes seconds."""
    for name in names:
        if name.startswith(("sglang.", "transformers.")) and name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def in_a_fork(launch: dict[str, Any], names: list[str]) -> str:
    """The answer of a child process, or what ended it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            before = set(sys.modules)
            answer = resolve(launch, names)
            answer["loaded"] = sorted(set(sys.modules) - before)
            said = json.dumps(answer, default=str)
        except BaseException as error:
            said = json.dumps({"id": launch["id"], "outcome": "failed", "message": repr(error)})
        with os.fdopen(writer, "w", encoding="utf-8") as out:
            out.write(said)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    ended = {"id": launch["id"], "outcome": "failed", "message": "the resolver ended the process"}
    return said or json.dumps(ended)


def main(arguments: list[str]) -> int:
    """Read the request, answer each launch."""
    # The folder of this script is on the path, and its modules are none of SGLang's business.
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [path for path in sys.path if path != here]
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    if request["fake"]:
        pretend(request["fake"])
    # Imported before the forks: it takes seconds.
    importlib.import_module("sglang.srt.server_args")
    with Path(arguments[1]).open("w", encoding="utf-8") as out:
        for launch in request["launches"]:
            answer = in_a_fork(launch, request["names"])
            out.write(answer + "\n")
            out.flush()
            load_early(json.loads(answer).get("loaded", []))
        told = {"stubbed": sorted(STUBBED), "called": sorted(CALLED)}
        out.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
