"""What is known of a launch, as advisories ask for it."""

from __future__ import annotations

from sgl_audit.errors import SglAuditError
from sgl_audit.evaluate.resolver import model_argument
from sgl_audit.launch import find_model, load_config
from sgl_audit.model.resolution import Launch, Resolution


def known_facts(answer: Resolution) -> dict[str, str | None]:
    """Settings as they were resolved, and the architecture of the model where it is at hand."""
    facts: dict[str, str | None] = {}
    for value in (*answer.options, *answer.runtime):
        if value.decided:
            facts[value.name] = "none" if value.value is None else _text(value.value)
    # The setting names a method of SGLang; advisories speak of the checkpoint's format.
    facts.pop("quantization", None)
    name = architecture(answer.launch)
    return {**facts, "architecture": name} if name else facts


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def architecture(launch: Launch) -> str | None:
    """The first architecture that the model's configuration names, or None."""
    path = launch.model_config or model_argument(list(launch.argv))
    try:
        files = find_model(path) if path else None
        config = load_config(files) if files is not None else None
    except SglAuditError:
        return None
    names = config.get("architectures") if isinstance(config, dict) else None
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else None
