"""The record of one run while it is made: every step is on disk before the next begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psutil

from sgl_audit.model.evidence import Evidence, Phase, RunEnvironment, RunLaunch
from sgl_audit.probe.masking import without
from sgl_audit.probe.store import Store, key_of, new_id, now


def make_key(
    environment: RunEnvironment, argv: tuple[str, ...], variables: object, prompts: object
) -> str:
    """Equal for runs of the same launch, device, SGLang and prompts."""
    device = environment.device
    versions = [pair for pair in environment.versions if pair[0] != "numpy"]
    return key_of(environment.sglang, device.capability, versions, argv, variables, prompts)


class Recorder:
    """Holds the evidence of a run and writes it anew at each change."""

    def __init__(
        self,
        store: Store,
        key: str,
        tool_version: str,
        environment: RunEnvironment,
        launch: RunLaunch,
        secrets: Sequence[str] = (),
    ) -> None:
        """A new record. Args: secrets: texts that are hidden wherever they stand in it."""
        self.store, self._secrets = store, secrets
        stamp = now()
        self.evidence = Evidence(
            id=new_id(key),
            key=key,
            created=stamp,
            updated=stamp,
            tool_version=tool_version,
            environment=environment,
            launch=launch,
            pid=os.getpid(),
            pid_started=psutil.Process().create_time(),
        )
        self._timings: dict[Phase, float] = {}

    def update(self, **changes: Any) -> Evidence:
        """Change some fields and write."""
        changed = replace(self.evidence, **changes, updated=now())
        self.evidence = without(changed, self._secrets)
        self.store.write(self.evidence)
        return self.evidence

    def time(self, phase: Phase, seconds: float) -> None:
        """Note what a phase took; written with the next update."""
        self._timings[phase] = round(self._timings.get(phase, 0.0) + seconds, 2)
        pairs = tuple((str(name), spent) for name, spent in self._timings.items())
        self.evidence = replace(self.evidence, timings=pairs)
