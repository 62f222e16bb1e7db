"""A plan in the forms that people and schedulers read."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence

from sgl_audit.probe.masking import masked_words
from sgl_audit.probe.matrix import RUN, Entry

# Words of our own command line that a job of the matrix does not repeat.
_OF_THE_PLAN = ("--plan",)
_WITH_VALUE = ("--format", "--shard", "-o", "--output")


def as_text(entries: Sequence[Entry]) -> str:
    """One line a combination, in order, with the reason where it is not run."""
    count = sum(entry.action == RUN for entry in entries)
    lines = [f"{entry.number:4} {entry.action:5} {entry.combination.name}" + _why(entry)
             for entry in entries]  # fmt: skip
    return "\n".join([*lines, f"{count} of {len(entries)} to run"]) + "\n"


def _why(entry: Entry) -> str:
    return f"  ({' '.join(entry.why.split())})" if entry.why else ""


def as_json(entries: Sequence[Entry]) -> str:
    """The plan as data."""
    return json.dumps({"format": 1, "entries": [_entry(item) for item in entries]}, indent=2) + "\n"


def _entry(entry: Entry) -> dict[str, object]:
    return {
        "number": entry.number,
        "key": entry.key,
        "action": entry.action,
        "why": entry.why,
        "values": dict(entry.combination.values),
        "argv": list(masked_words(entry.combination.argv)),
        "evidence": entry.evidence.id if entry.evidence is not None else None,
    }


def as_github(entries: Sequence[Entry], count: int) -> str:
    """A `strategy.matrix` for GitHub Actions: one job a shard, or one a combination to run."""
    shards = _shards(entries, count)
    command = _again()
    jobs = [
        {"shard": f"{number}/{whole}", "run": f"{command[0]} --shard {number}/{whole}{command[1]}"}
        for number, whole in shards
    ]
    return json.dumps({"include": jobs}) + "\n"


def as_slurm(entries: Sequence[Entry], count: int) -> str:
    """A batch script with an array of jobs."""
    shards = _shards(entries, count)
    whole = shards[0][1] if shards else 1
    numbers = ",".join(str(number) for number, _ in shards) or "1"
    before, after = _again()
    return (
        "#!/bin/bash\n"
        "#SBATCH --job-name=sgl-audit-probe\n"
        f"#SBATCH --array={numbers}\n"
        "#SBATCH --gpus=1\n"
        f'srun {before} --shard "${{SLURM_ARRAY_TASK_ID}}/{whole}"{after}\n'
    )


def _shards(entries: Sequence[Entry], count: int) -> list[tuple[int, int]]:
    if count > 1:
        return [(number, count) for number in range(1, count + 1)]
    whole = max((entry.number for entry in entries), default=1)
    return [(entry.number, whole) for entry in entries if entry.action == RUN]


def _again() -> tuple[str, str]:
    """This very command without the plan, before and from its `--`."""
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    kept, skip = [], False
    for word in words[:cut]:
        if skip:
            skip = False
        elif word in _WITH_VALUE:
            skip = True
        elif word not in _OF_THE_PLAN and not word.startswith(tuple(f"{f}=" for f in _WITH_VALUE)):
            kept.append(word)
    after = f" {shlex.join(words[cut:])}" if cut < len(words) else ""
    return f"sgl-audit {shlex.join(kept)}", after
