"""The prediction of a run: the SGLang that is installed there, resolved for the device there."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sgl_audit import api
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import IncompleteError, SglAuditError
from sgl_audit.launch import ModelFiles, find_model, load_config
from sgl_audit.model.evidence import (
    Device,
    PredictedRefusal,
    PredictedValue,
    Prediction,
)
from sgl_audit.model.resolution import Launch, Refusal, Resolution, ResolvedValue
from sgl_audit.model.source import SourceTree
from sgl_audit.probe.command import value_of, without_address
from sgl_audit.probe.interpreter import Interpreter
from sgl_audit.probe.machine import numa_memory, usable_memory

if TYPE_CHECKING:
    from sgl_audit.evaluate.reading import EvaluatedOption
    from sgl_audit.evaluate.resolver import Resolver

_CUDA = ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu13", "nvidia-cuda-runtime-cu12")
_CUDNN = ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12")


@dataclass(slots=True)
class Predictor:
    """Predicts launches for one interpreter on one device; the tree is read once."""

    interpreter: Interpreter
    device: Device
    feedback: Feedback
    environment: tuple[tuple[str, str], ...] = ()
    _resolver: Resolver | None = None
    _tree: SourceTree | None = None
    _libraries: tuple[SourceTree, ...] = ()
    _options: dict[str, EvaluatedOption] = field(default_factory=dict)
    failed: str = ""

    def options(self) -> dict[str, EvaluatedOption]:
        """The server's options by field, with flags and choices; empty where they are not read."""
        if not self._options and self._open():
            from sgl_audit.evaluate.reading import Reader

            assert self._tree is not None
            self._options = dict(Reader(self._tree).options())
        return self._options

    def asked(self, argv: Sequence[str]) -> dict[str, str]:
        """Backend options that a launch sets, by field name."""
        from sgl_audit.evaluate.relevance import is_relevant

        found = {}
        for name, option in self.options().items():
            value = value_of(argv, *option.flags) if option.choices and is_relevant(name) else None
            if value is not None:
                found[name] = value
        return found

    def predict(self, argv: Sequence[str]) -> Prediction | None:
        """What a launch should become, or None where the tree cannot be read."""
        resolution = self.resolve(argv)
        return None if resolution is None else as_prediction(resolution)

    def resolve(self, argv: Sequence[str]) -> Resolution | None:
        """The whole resolution of a launch."""
        if not self._open() or self._resolver is None:
            return None
        launch = Launch(
            id="probe",
            capability=self.device.capability,
            argv=without_address(argv),
            environment=self.environment,
            assume=self.assumptions(),
            model_config=model_folder(argv),
        )
        return self._resolver.resolve(launch, trace=True)

    def assumptions(self) -> tuple[tuple[str, str], ...]:
        """What is known of the interpreter and its machine, in place of what is assumed."""
        packages = self.interpreter.packages
        found: dict[str, str] = {}
        if self._tree is not None:
            for pin in self._tree.info.distribution.requires:
                if pin.extra is None:
                    found[f"package.{pin.name}"] = packages.get(pin.name, "none")
        if "torch" in packages:
            found["torch"] = packages["torch"].partition("+")[0]
            found["package.torch"] = found["torch"]
        found["flashinfer"] = packages.get("flashinfer-python", "none")
        for name, candidates in (("cuda", _CUDA), ("cudnn", _CUDNN)):
            version = next((packages[item] for item in candidates if item in packages), None)
            if version is not None:
                found[name] = ".".join(version.split(".")[: 2 if name == "cuda" else 3])
        return tuple((found | _of_device(self.device)).items())

    def forget(self) -> None:
        """Let go of the tree, keeping what is known of its options: nothing more is predicted.

        It is some hundred megabytes that a server beside it could use, and that every collection
        of garbage would go through.
        """
        self.options()
        self._resolver, self._tree, self._libraries = None, None, ()
        gc.collect()

    def tree(self) -> SourceTree:
        """The installed tree.

        Raises:
            IncompleteError: it cannot be read.
        """
        if not self._open() or self._tree is None:
            raise IncompleteError(f"SGLang's source is not read: {self.failed}")
        return self._tree

    def libraries(self) -> tuple[SourceTree, ...]:
        """What is read beside it."""
        return self._libraries if self._open() else ()

    def _open(self) -> bool:
        if self._resolver is not None:
            return True
        if self.failed or self.interpreter.tree is None:
            self.failed = self.failed or "SGLang's source is not where the interpreter finds it"
            return False
        from sgl_audit.evaluate.resolver import Resolver

        folder = str(self.interpreter.tree.parent)
        try:
            self._tree = api.open_source(folder, offline=True, notify=self.feedback.notify)
            library = self.interpreter.transformers
            beside = str(library.parent) if library is not None else "none"
            self._libraries, _ = api.open_libraries(
                self._tree, transformers=beside, offline=True, notify=self.feedback.notify
            )
        except SglAuditError as error:
            self.failed = str(error)
            return False
        self._resolver = Resolver(self._tree, self._libraries)
        return True


def _of_device(device: Device) -> dict[str, str]:
    if device.kind == "cpu":
        # Where there is no GPU this is the memory that SGLang divides.
        nodes = numa_memory()
        return {
            "gpu_memory_mib": str(usable_memory() >> 20),
            **({"numa_memory_mib": ",".join(map(str, nodes))} if nodes else {}),
        }
    found = {}
    if device.memory_mib:
        found["gpu_memory_mib"] = str(device.memory_mib)
    if device.count:
        found["gpu_count"] = str(device.count)
    if device.name:
        found["device_name"] = device.name
    if device.driver:
        found["driver"] = device.driver
    return found


def model_files(argv: Sequence[str]) -> ModelFiles | None:
    """The model's small files, where they are on this machine."""
    name = value_of(argv, "--model-path", "--model")
    if name is None:
        return None
    try:
        return find_model(name, revision=value_of(argv, "--revision"))
    except SglAuditError:
        # What is wrong with it the server will say in its own words.
        return None


def model_folder(argv: Sequence[str]) -> str | None:
    """The folder that stands for a model of the hub cache."""
    files = model_files(argv)
    return str(files.root) if files is not None and files.source == "hub cache" else None


def vocabulary(argv: Sequence[str]) -> int | None:
    """The size of the model's vocabulary, as its config.json says."""
    files = model_files(argv)
    if files is None:
        return None
    try:
        config: Mapping[str, Any] = load_config(files)
    except SglAuditError:
        return None
    for part in (config, config.get("text_config")):
        size = part.get("vocab_size") if isinstance(part, Mapping) else None
        if isinstance(size, int):
            return size
    return None


def as_prediction(resolution: Resolution) -> Prediction:
    """What of a resolution belongs into a record: options as a server gives them out."""
    reported = {value.name: value for value in resolution.reported}
    return Prediction(
        outcome=resolution.outcome.value,
        capability=resolution.launch.capability,
        reason=resolution.reason or "",
        rejection=_refusal(resolution.rejection) if resolution.rejection is not None else None,
        late=None if resolution.late is None else tuple(map(_refusal, resolution.late)),
        values=(
            *(_value(reported.get(value.name, value), "option") for value in resolution.options),
            *(_value(value, "run time") for value in resolution.runtime),
        ),
    )


def _refusal(refusal: Refusal) -> PredictedRefusal:
    return PredictedRefusal(refusal.type, refusal.message, refusal.stage, refusal.place)


def _value(value: ResolvedValue, layer: str) -> PredictedValue:
    text = "" if value.decided else (value.reason or "depends on what is not known")
    if value.cases:
        text = " or ".join(dict.fromkeys(str(case.value) for case in value.cases))[:200]
    return PredictedValue(value.name, value.decided, value.value, text, layer)
