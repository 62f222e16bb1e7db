"""Compose files, Kubernetes manifests and lists of launches."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit.launch import (
    LaunchForm,
    one_launch,
    parse_launch_lines,
    read_config_values,
    read_launch_file,
)

PY = "python -m sglang.launch_server"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers:
    - {name: init, command: [python, -m, sglang.launch_server, --init]}
  containers:
    - name: c
"""
LWS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: lws}
spec:
  leaderWorkerTemplate:
    leaderTemplate:
      spec:
        containers:
          - name: leader
            env: [{name: TP, value: 16}, {name: IP, valueFrom: {fieldRef: {fieldPath: x}}}]
            command: [python3, -m, sglang.launch_server]
            args: [--tp, $(TP), --mem-fraction-static, 0.90, --trust-remote-code]
"""

# (text, name, environment, argv)
TABLE: list[tuple[str, str, str, str]] = [
    (
        f"services:\n  a:\n    image: x\n    command: {PY} --tp 2\n    environment: [A=1, B=x=y]",
        "a",
        "A=1|B=x=y",
        "--tp 2",
    ),
    (
        "services:\n  a:\n    entrypoint: python3 -m sglang.launch_server\n    command: >\n"
        "      --model-path m\n      --mem-fraction-static 0.90\n    environment:\n"
        "      A: 1\n      B: on\n      C: '${X:-3}'\n",
        "a",
        "A=1|B=on|C=3",
        "--model-path m --mem-fraction-static 0.90",
    ),
    (
        "# a comment\nx-env: &e {A: 1}\nservices:\n  a:\n    environment: {<<: *e, B: 2}\n"
        f"    command: [bash, -c, '{PY} --x $$B']\n",
        "a",
        "A=1|B=2",
        "--x 2",
    ),
    (
        "services:\n  a:\n    image: lmsysorg/sglang:v1\n    command: --model-path m ${EXTRA-}\n"
        "  db: {image: postgres, command: run}",
        "a",
        "",
        "--model-path m",
    ),
    (
        f"services:\n  a:\n    command: |\n      {PY} \\\n        --x '{{\"a\":1}}'\n",
        "a",
        "",
        '--x {"a":1}',
    ),
    (
        POD + f"      command: [sh, -c]\n      args: ['A=$(nproc); exec {PY} --tp 2']",
        "p.c",
        "",
        "--tp 2",
    ),
    (
        POD + "      env: [{name: A, value: '1'}, {name: B, value: $(A)2}]\n"
        "      command: [sglang, serve]\n      args: [--x, $(B), $$(A)]",
        "p.c",
        "A=1|B=12",
        "--x 12 $(A)",
    ),
    (
        POD + "      env: [{name: A, value: '1'}]\n      command: [/bin/bash, -c]\n      args:\n"
        f"      - |\n        export B=$A\n        {PY} \\\n          --x $B $(A)\n",
        "p.c",
        "A=1|B=1",
        "--x 1 1",
    ),
    (POD + "      image: lmsysorg/sglang\n      args: [--tp, 8]", "p.c", "", "--tp 8"),
    (LWS, "lws.leader", "TP=16", "--tp 16 --mem-fraction-static 0.90 --trust-remote-code"),
    ("- {name: n, argv: [--tp, 8, --x, on]}", "n", "", "--tp 8 --x on"),
    (
        f"launches:\n- name: n\n  environment: {{A: 1}}\n  command: B=2 {PY} --x",
        "n",
        "A=1|B=2",
        "--x",
    ),
    ('{"name": "n", "argv": ["--tp", 8], "env": ["A=1"]}', "n", "A=1", "--tp 8"),
    ('[{"argv": ["python", "-m", "sglang.launch_server", "--x", 0.5]}]', "1", "", "--x 0.5"),
    ('{"services": {"a": {"command": ["sglang", "serve", "m"]}}}', "a", "", "m"),
]


@pytest.mark.parametrize(("text", "name", "environment", "argv"), TABLE, ids=range(len(TABLE)))
def test_forms(text: str, name: str, environment: str, argv: str) -> None:
    line = one_launch(parse_launch_lines(text))
    assert line.name == name
    assert "|".join(f"{n}={v}" for n, v in line.environment) == environment
    assert " ".join(line.argv) == argv


def test_lines_extras_and_unknown_variables() -> None:
    (line,) = parse_launch_lines(LWS)
    assert (line.line, line.unknown_environment) == (10, ("IP",))
    (line,) = parse_launch_lines("- {argv: [--x], arch: sm120, model_config: /m}")
    assert (line.arch, line.model_config) == ("sm120", "/m")
    text = f"services: {{a: {{env_file: f, environment: [HF_TOKEN], command: {PY}}}}}"
    (line,) = parse_launch_lines(text)
    assert line.unknown_environment == ("HF_TOKEN",)
    assert "env_file was not read" in line.notes[0]
    given = {"LWS_WORKER_INDEX": "1"}
    text = POD + "      command: [sglang, serve, --node-rank, $(LWS_WORKER_INDEX)]"
    (line,) = parse_launch_lines(text, variables=given)
    assert line.argv == ("--node-rank", "1")


def test_several_documents_and_services() -> None:
    text = f"{POD}      command: [sglang, serve, a]\n---\n{POD}      command: [sglang, serve, b]\n"
    assert [line.argv for line in parse_launch_lines(text)] == [("a",), ("b",)]
    with pytest.raises(UsageError, match=r"2 servers \(p\.c at line 9, p\.c at line 20\)"):
        one_launch(parse_launch_lines(text))


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = "a: &a {k: v}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 10)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 500))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, ["once its aliases are followed"]),
        (MERGE_BOMB, ["once its aliases are followed"]),
        (CHAIN, ["nested more than 60"]),
        ("a: &a [*a]", ["alias to itself"]),
        ("a: " + "[" * 100_000, ["nest"]),
        ("a:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 200)), ["nested more than 60"]),
        ('[{"a": ' + "[" * 100_000 + "]" * 100_000 + "}]", ["nested more than 60"]),
        ("a: !!python/object/apply:os.system [ls]", ["no YAML", "line 1"]),
        ("a: [1", ["no YAML", "line"]),
        ("a: 'x", ["no YAML", "line"]),
        ("services: {a: {command: nginx}}", ["starts no SGLang server"]),
        ('services: {a: {command: "sglang serve \'x"}}', ["service a", "never closed"]),
        ("services: {a: {command: sglang serve $M}}", ["$M", "set nowhere", "env.M=VALUE"]),
        ("services: {a: {command: [sglang, serve, {a: b}]}}", ["service a", "no text"]),
        (POD + "      command: [sglang, serve, $(RANK)]", ["$(RANK)", "env.RANK=VALUE"]),
        (
            POD + "      env: [{name: K, valueFrom: {x: y}}]\n      command: [sglang, serve, $(K)]",
            ["$(K)", "valueFrom"],
        ),
        ("- {name: n, argvs: [x]}", ["launch 1", "argvs", "did you mean argv?"]),
        ("- {name: n, zzzz: [x]}", ["launch 1", "zzzz", "known are"]),
        ("- {name: n, argv: [x, ~]}", ["launch 1", "element 1", "None"]),
        ("- {name: n}", ["launch 1", "not a list"]),
        ("- {name: n, argv: [x], env: [A]}", ["launch 1", "A is no NAME=VALUE"]),
        ("- {name: n, command: nginx}", ["launch 1", "no SGLang server"]),
        ("- name: n\n- 3", ["launch 1"]),
        ('[{"argv": [true]}]', ["launch 1", "element 0", "True"]),
        ("model-path: m\ntp: 8", ["--config"]),
        ('{"a": 1,}', ["no JSON", "line 1"]),
        ('{"a": ' + "1" * 5000 + "}", ["no JSON"]),
        ("a: 2001-99-99\nb: [\x1b[31m]", ["f.yaml"]),
    ],
)
def test_errors_are_one_sentence(text: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        one_launch(parse_launch_lines(text, origin="f.yaml"))
    message = str(caught.value)
    assert message.startswith("f.yaml") and message.isprintable() and len(message) < 400
    assert message.endswith((".", "?"))
    assert all(word in message for word in words), message


def test_files(tmp_path: Path) -> None:
    def written(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    script = written("run.sh", b"apiVersion: x\n" + PY.encode() + b" --x\n")
    assert one_launch(read_launch_file(script)).argv == ("--x",)
    assert one_launch(read_launch_file(written("run", f"\ufeff{PY} --x".encode()))).argv == ("--x",)
    compose = written("c.YML", f"services: {{a: {{command: {PY}}}}}".encode())
    assert one_launch(read_launch_file(compose)).name == "a"
    listing = written("l.json", b'[{"name": "n", "argv": ["--x"]}]')
    assert one_launch(read_launch_file(listing)).name == "n"
    with pytest.raises(UsageError, match=r"no UTF-8 text \(line 2, byte 3\)"):
        read_launch_file(written("bad.sh", b"ab\n\xff\n"))
    with pytest.raises(UsageError, match="larger than 8 MB"):
        read_launch_file(written("big.sh", b"#" * (8 * 2**20 + 1)))
    with pytest.raises(UsageError, match="No such file"):
        read_launch_file(tmp_path / "absent")
    with pytest.raises(UsageError, match="no regular file"):
        read_launch_file(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError, match="no regular file"):
        read_launch_file(tmp_path / "fifo")
    with pytest.raises(UsageError, match="no regular file"):
        read_launch_file(Path("/dev/zero"))


def test_form_can_be_given() -> None:
    with pytest.raises(UsageError, match="starts no SGLang server"):
        parse_launch_lines(PY, form=LaunchForm.YAML)


def test_a_large_yaml_is_fast() -> None:
    services = "".join(f"  s{n}:\n    command: x\n" for n in range(15_000))
    start = time.process_time()
    (line,) = parse_launch_lines(f"services:\n{services}  a:\n    command: {PY} --x\n")
    assert line.argv == ("--x",)
    assert time.process_time() - start < 8


def test_config_values(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("tp: 8\nmem-fraction-static: 0.90\nx: on\nl: [1, a]\nd: {a: .nan}\n")
    values = read_config_values(path)
    assert values["tp"] == 8 and values["mem-fraction-static"] == 0.9 and values["x"] is True
    path.write_text("")
    assert read_config_values(path) == {}
    json_path = tmp_path / "c.json"
    json_path.write_text('{"tp": 8}')
    assert read_config_values(json_path) == {"tp": 8}
    for text, words in (
        ("- a", "holds list"),
        ("1: 2", "the key 1"),
        ("a: 1\n---\nb: 1", "several YAML documents"),
        ("a: !!python/name:os.system", "no YAML"),
        ("? [a]\n: b", "no YAML"),
        (BOMB, "aliases"),
        ("a: 2001-99-99", "no YAML"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            read_config_values(path)
