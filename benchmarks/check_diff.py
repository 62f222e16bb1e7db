"""Is the change that `sgl-audit diff` reports the change that there is? Prints totals.

    python benchmarks/check_diff.py FOLDER [--pairs 0.5.9:0.5.10 ...] [--archs sm120 ...]
                                    [--sample N] [--sources DIR] [--show N] [--jobs N]

FOLDER holds what SGLang's own code made of launches: `resolve/truth-VERSION.jsonl`, one launch a
line with `arch`, `model`, `flags`, `assume`, `outcome`, `options`, `runtime`, `error` and `late`,
and `models/` with the configurations that they name. For every launch that is in the truth of both
versions the difference of the two truths is compared with what the tool reports: values that
changed, values that only one version has, and how the launch ends.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAIRS = ("0.5.9:0.5.10", "0.5.10:0.5.15", "0.5.15:0.5.23", "0.5.9:0.5.23")
ARCHS = ("sm90", "sm100", "sm120", "sm121")
Row = dict[str, Any]
Facts = dict[tuple[str, ...], Any]


def rows_of(folder: Path, version: str) -> dict[tuple[str, str, tuple[str, ...]], Row]:
    """The truth of one version by capability, model and flags."""
    path = folder / "resolve" / f"truth-{version}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(row["arch"], row["model"], tuple(row["flags"])): row for row in rows}


def common(folder: Path, pair: str, archs: list[str], sample: int | None) -> list[tuple[Row, Row]]:
    """Launches that both versions have, with the same assumptions; a stable sample of them."""
    old, new = (rows_of(folder, version) for version in pair.split(":"))
    keys = [key for key in old if key in new and key[0] in archs]
    keys = [key for key in keys if old[key]["assume"] == new[key]["assume"]]
    if sample is not None and sample < len(keys):
        keys.sort(key=lambda key: hashlib.sha256(repr(key).encode()).hexdigest())
        keys = keys[:sample]
    return [(old[key], new[key]) for key in sorted(keys)]


def launch(folder: Path, row: Row, number: int) -> Row:
    """One line of a batch file."""
    models = f"{(folder / 'models').resolve()}/"
    flags = [flag.replace("MODELS/", models) for flag in row["flags"]]
    argv = ["--model-path", models + row["model"], *flags]
    return {"id": str(number), "arch": row["arch"], "argv": argv, "assume": row["assume"]}


def ask(
    folder: Path, pair: str, pairs: list[tuple[Row, Row]], args: argparse.Namespace
) -> list[Row]:
    """What the tool reports for the launches, in order."""
    old, new = (source(version, args.sources) for version in pair.split(":"))
    with tempfile.TemporaryDirectory() as place:
        file, report = Path(place) / "launches.jsonl", Path(place) / "review.json"
        lines = [json.dumps(launch(folder, row, i)) for i, (row, _) in enumerate(pairs)]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "sgl_audit", "diff", old, new, "--launches", str(file)]
        command += ["--launches-only", "--format", "json", "-o", str(report)]
        command += ["--jobs", str(args.jobs), "--fail-on", "never"]
        done = subprocess.run(command, check=False)
        if done.returncode not in (0, 3):
            raise SystemExit(f"sgl-audit diff exited {done.returncode}")
        found: list[Row] = json.loads(report.read_text(encoding="utf-8"))["launches"]
    if [row["id"] for row in found] != [str(i) for i in range(len(pairs))]:
        raise SystemExit(f"{pair}: the answers do not match the launches")
    return found


def source(version: str, folder: Path | None) -> str:
    """A wheel in the folder, else the release."""
    wheels = sorted(folder.glob(f"sglang-{version}-*.whl")) if folder is not None else []
    return str(wheels[0]) if wheels else f"sglang=={version}"


def end_of(row: Row) -> tuple[Any, ...]:
    """How a launch of the truth ends: accepted, or the first refusal with its place."""
    if row["outcome"] == "error":
        error = row["error"]
        return ("refused", error["type"], error["file"], error["line"])
    late = (row.get("late") or {}).get("refusals") or []
    if late:
        return ("refused late", late[0]["type"], late[0]["file"], late[0]["line"])
    return ("accepted",)


def end_told(end: Row) -> tuple[Any, ...]:
    """How a launch ends as the tool has it."""
    if end["outcome"] == "unknown":
        return ("unknown",)
    if end["rejection"] is not None:
        said = end["rejection"]
        return ("refused", said["type"], said["file"], said["line"])
    if "refusals" not in end["late"]:
        return ("unknown late",)
    stages = ("quantization", "moe_method", "attention")
    late = [item for item in end["late"]["refusals"] if item["stage"] in stages]
    if late:
        return ("refused late", late[0]["type"], late[0]["file"], late[0]["line"])
    return ("accepted",)


def truth_of(old: Row, new: Row) -> Facts:
    """The difference of two truths."""
    found: Facts = {}
    if end_of(old) != end_of(new):
        found["end",] = (end_of(old), end_of(new))
    if "error" in (old["outcome"], new["outcome"]):
        return found
    for group in ("options", "runtime"):
        for name, value in old[group].items():
            if name not in new[group]:
                found[group, name, "gone"] = value
            elif value != new[group][name]:
                found[group, name] = (value, new[group][name])
        for name, value in new[group].items():
            if name not in old[group]:
                found[group, name, "added"] = value
    return found


def told(answer: Row, old: Row, new: Row) -> tuple[Facts, set[tuple[str, ...]]]:
    """The difference that is reported, for the names that the truths list; and what is open."""
    found: Facts = {}
    ends = end_told(answer["old"]), end_told(answer["new"])
    unknown = {("end",)} if any(end[0].startswith("unknown") for end in ends) else set()
    if ends[0] != ends[1]:
        found["end",] = ends
    listed = {(g, n) for row in (old, new) for g in ("options", "runtime") for n in row.get(g, ())}
    for change in answer["changes"]:
        # Under two names it is gone under one and new under the other.
        if change["old_name"] == change["name"] and (change["group"], change["name"]) in listed:
            found[change["group"], change["name"]] = (change["before"], change["after"])
    for way in ("gone", "added"):
        for lone in answer[way]:
            if (lone["group"], lone["name"]) in listed:
                found[lone["group"], lone["name"], way] = lone["value"]
    unknown |= {(item["group"], item["name"]) for item in answer["unknown"]}
    return found, unknown


def score(old: Row, new: Row, answer: Row, count: collections.Counter[str]) -> Iterator[str]:
    """Count one launch; gives a line for everything that is not right."""
    real = truth_of(old, new)
    ours, unknown = told(answer, old, new)
    wrong = False
    for key in sorted({*real, *ours}, key=repr):
        if key in real and key in ours and real[key] == ours[key]:
            count["right"] += 1
            continue
        if key[:2] in unknown or key in unknown:
            verdict = "unknown"
        elif key in real and key in ours:
            verdict = "other value"
        else:
            verdict = "missed" if key in real else "invented"
        count[verdict] += 1
        wrong = True
        yield f"{verdict}\t{old['id']}\t{'.'.join(key)}\treal {real.get(key)}\ttold {ours.get(key)}"
    count["launches equal"] += not wrong
    count["launches without a change"] += not wrong and not real


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", nargs="*", default=list(PAIRS), metavar="OLD:NEW")
    parser.add_argument("--archs", nargs="*", default=list(ARCHS))
    parser.add_argument("--sample", type=int)
    parser.add_argument("--sources", type=Path, help="folder with SGLang wheels")
    parser.add_argument("--show", type=int, default=20, help="lines of what is not right")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    total: collections.Counter[str] = collections.Counter()
    asked = 0
    for pair in args.pairs:
        pairs = common(args.folder, pair, args.archs, args.sample)
        count: collections.Counter[str] = collections.Counter()
        lines = []
        for (old, new), answer in zip(pairs, ask(args.folder, pair, pairs, args), strict=True):
            lines += list(score(old, new, answer, count))
        print("\n".join(lines[: args.show]), end="\n" if lines else "")
        shown = ", ".join(f"{name} {number}" for name, number in sorted(count.items()))
        print(f"{pair.replace(':', ' -> ')}: {len(pairs)} launches: {shown}", flush=True)
        total += count
        asked += len(pairs)
    shown = ", ".join(f"{name} {number}" for name, number in sorted(total.items()))
    print(f"diff: {asked} launches, {shown}")
    bad = sum(total[name] for name in ("missed", "invented", "other value"))
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
