"""Whether device images run on a capability.

Facts: "Application Compatibility" in the CUDA programming guide and "GPU Feature List" in the
nvcc manual: a cubin runs on the same major version from its minor version on; an `a` target on
its exact architecture only; an `f` target within its family; PTX is compiled for any later
architecture, `a` and `f` PTX only where their cubins would run. No promise covers Tegra parts.
"""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.model.capability import Capability, Vendor
from sgl_audit.model.kernels import (
    Answer,
    BinaryReport,
    CoverageAnswer,
    DeviceImage,
    FatBinary,
    ImageKind,
    ObjectCoverage,
    SharedObject,
)

_TEGRA = frozenset({53, 62, 72, 87, 88, 101, 110})
_SHOWN = 3


def covers(report: BinaryReport, capability: Capability) -> CoverageAnswer:
    """Whether the binary has code for the capability, with the reason.

    YES needs every fat binary of every shared object to have an image that runs there; where
    only some have, the answer is UNKNOWN with the count, since which kernels a launch needs
    cannot be told from the binary.
    """
    name = capability.name
    if not report.objects:
        return CoverageAnswer(name, Answer.UNKNOWN, f"{report.label} has no readable GPU code")
    objects = tuple(_object(item, capability) for item in report.objects)
    answer, reason = _joined(report, objects, name)
    if report.diagnostics and answer is not Answer.UNKNOWN:
        # What could not be read may hold the very kernels that are asked about.
        unread = f"{len(report.diagnostics)} libraries of {report.label} were not read"
        answer, reason = Answer.UNKNOWN, f"{unread}; the others: {reason}"
    return CoverageAnswer(name, answer, reason, objects)


def _joined(
    report: BinaryReport, objects: tuple[ObjectCoverage, ...], name: str
) -> tuple[Answer, str]:
    answers = {item.answer for item in objects}
    if answers == {Answer.NO}:
        return Answer.NO, _none_for(name, report.images)
    if len(answers) == 1:
        return objects[0].answer, _distinct(item.reason for item in objects)
    having = sum(item.answer is Answer.YES for item in objects)
    reason = f"{having} of {len(objects)} shared objects have code for {name}"
    lacking = [item.name for item in objects if item.answer is Answer.NO]
    unclear = [item.name for item in objects if item.answer is Answer.UNKNOWN]
    reason += f"; none in {_some(lacking)}" if lacking else ""
    reason += f"; in part or not understood: {_some(unclear)}" if unclear else ""
    return Answer.UNKNOWN, reason


def runs_on(image: DeviceImage, capability: Capability) -> tuple[Answer, str]:
    """Whether one image runs on a capability, with the reason."""
    if image.kind is ImageKind.HIP:
        return _hip(image, capability)
    if image.kind is ImageKind.UNKNOWN or image.number is None:
        return Answer.UNKNOWN, image.reason or "an image was not understood"
    if capability.vendor is not Vendor.NVIDIA:
        return Answer.NO, f"{image.label} is for NVIDIA"
    if image.kind is ImageKind.LTO:
        return Answer.UNKNOWN, f"{image.label} is link-time IR, which must be linked first"
    if image.kind is ImageKind.PTX and image.variant == "":
        if capability.number >= image.number:
            return Answer.YES, f"PTX {image.label}, compiled by the driver on first use"
        return Answer.NO, f"PTX {image.label} is for later architectures"
    return _cubin(image, image.number, capability)


def _cubin(image: DeviceImage, number: int, capability: Capability) -> tuple[Answer, str]:
    """Cubins, and PTX with a variant, which is as narrow as the cubin of that variant."""
    if number == capability.number:
        return Answer.YES, f"{image.label}, exact"
    if image.variant == "a":
        return Answer.NO, f"{image.label} runs on its exact architecture only"
    if number // 10 != capability.major or number > capability.number:
        return Answer.NO, f"{image.label} is for another architecture"
    if number in _TEGRA or capability.number in _TEGRA:
        return Answer.UNKNOWN, f"nothing promises that {image.label} runs on {capability.name}"
    if image.variant is None:
        return Answer.UNKNOWN, image.reason
    kind = "family" if image.variant == "f" else "binary compatible"
    return Answer.YES, f"{image.label}, {kind}"


def _hip(image: DeviceImage, capability: Capability) -> tuple[Answer, str]:
    if capability.vendor is not Vendor.AMD:
        return Answer.NO, f"{image.target} is for AMD"
    if image.target.split(":")[0] == capability.name:
        return Answer.YES, f"code object for {image.target}"
    if "generic" in image.target:
        return Answer.UNKNOWN, f"whether {image.target} includes {capability.name} is not known"
    return Answer.NO, f"{image.target} is another target"


def _object(item: SharedObject, capability: Capability) -> ObjectCoverage:
    fatbins = [fatbin for fatbin in item.fatbins if fatbin.images]
    loadable = [fatbin for fatbin in fatbins if not fatbin.relocatable]
    if not fatbins:
        return ObjectCoverage(item.name, Answer.NO, "its fat binaries are empty", 0, 0)
    if not loadable:
        reason = "it holds relocatable code only, which must be linked first"
        return ObjectCoverage(item.name, Answer.UNKNOWN, reason, 0, len(fatbins))
    results = [_fatbin(fatbin, capability) for fatbin in loadable]
    count = {answer: sum(result[0] is answer for result in results) for answer in Answer}
    covered, total = count[Answer.YES], len(results)
    if covered == total or count[Answer.NO] == total:
        answer, reason = results[0][0], _distinct(result[1] for result in results)
    else:
        answer = Answer.UNKNOWN
        reason = f"{covered} of {total} fat binaries have code for {capability.name}"
        unread = _distinct(text for state, text in results if state is Answer.UNKNOWN)
        reason += f"; not understood: {unread}" if unread else ""
    return ObjectCoverage(item.name, answer, reason, covered, total)


def _fatbin(fatbin: FatBinary, capability: Capability) -> tuple[Answer, str]:
    """The driver takes one image, so one that runs is enough: the nearest cubin, else PTX."""
    results = [(runs_on(image, capability), image) for image in fatbin.images]
    for answer in (Answer.YES, Answer.UNKNOWN):
        having = [result for result in results if result[0][0] is answer]
        if having:
            having.sort(key=lambda r: (r[1].kind is ImageKind.PTX, -(r[1].number or 0)))
            return having[0][0]
    return Answer.NO, _none_for(capability.name, fatbin.images)


def _none_for(name: str, images: Iterable[DeviceImage]) -> str:
    labels = dict.fromkeys(image.label for image in images)
    return f"no image for {name}, only {', '.join(labels)}"


def _distinct(reasons: Iterable[str]) -> str:
    return _some(list(dict.fromkeys(reasons)), "; ")


def _some(texts: list[str], separator: str = ", ") -> str:
    shown = separator.join(texts[:_SHOWN])
    return shown + (f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")
