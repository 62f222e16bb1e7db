"""Launch lines in shell form: what reaches the server's environment and arguments."""

from __future__ import annotations

import time

import pytest

from sgl_audit.errors import UsageError
from sgl_audit.launch import LaunchLine, one_launch, parse_launch_lines

PY = "python -m sglang.launch_server"

# (text, environment, argv)
TABLE: list[tuple[str, str, str]] = [
    (f"{PY} --model-path m --tp 8", "", "--model-path m --tp 8"),
    ("python3 -m sglang.launch_server --tp 8", "", "--tp 8"),
    ("/opt/venv/bin/python3.11 -u -m sglang.launch_server --tp 8", "", "--tp 8"),
    ("python -msglang.launch_server --tp 8", "", "--tp 8"),
    ("python /src/python/sglang/launch_server.py --tp 8", "", "--tp 8"),
    ("sglang serve --model-path m", "", "--model-path m"),
    ("sglang serve m --tp 2", "", "m --tp 2"),
    ("/usr/local/bin/sglang serve m", "", "m"),
    ("python -m sglang serve m", "", "m"),
    ("--model-path m --tp 2", "", "--model-path m --tp 2"),
    ("--model-path m\n--tp 2\n", "", "--model-path m --tp 2"),
    (f"$ {PY} --tp 2", "", "--tp 2"),
    (f"(venv) $ {PY} --tp 2", "", "--tp 2"),
    (f"A=1 B='x y' {PY} --tp 2", "A=1|B=x y", "--tp 2"),
    (f"env A=1 -u Z B=2 {PY}", "A=1|B=2", ""),
    (f"export A=1\nenv -i B=2 {PY}", "B=2", ""),
    (f"export A=1 B=2\nunset A\n{PY} --x", "B=2", "--x"),
    (f"A=1\nexport A\n{PY}", "A=1", ""),
    (f"A=1\n{PY}", "", ""),
    (f"set -a\nA=1\n{PY}", "A=1", ""),
    (f"declare -x A=1\n{PY}", "A=1", ""),
    (f"export A=1 && export B=2 && {PY}", "A=1|B=2", ""),
    (f"cd /x && {PY} --tp 2", "", "--tp 2"),
    (f"nohup {PY} --tp 2 > log 2>&1 &", "", "--tp 2"),
    (f"{PY} --tp 2 2>&1 | tee log", "", "--tp 2"),
    (f"{PY} --tp 2 &>log; echo done", "", "--tp 2"),
    (f"{PY} --tp 2 >> log --dp 2 < /dev/null", "", "--tp 2 --dp 2"),
    (f"{PY} --port 3000 --tp 2&& echo x", "", "--port 3000 --tp 2"),
    (f"exec numactl --cpunodebind=0 --membind 0 {PY} --tp 2", "", "--tp 2"),
    (f"CUDA_VISIBLE_DEVICES=0,1 nohup numactl -N 0 {PY}", "CUDA_VISIBLE_DEVICES=0,1", ""),
    ("torchrun --nproc 8 -m sglang.launch_server --tp 8", "", "--tp 8"),
    (f"{PY} \\\n  --tp 2 \\\n  --dp 2\n", "", "--tp 2 --dp 2"),
    (f"{PY} \\\r\n  --tp 2\r\n", "", "--tp 2"),
    (f"# {PY} --tp 1\n{PY} --tp 2 # eight\n", "", "--tp 2"),
    (f"{PY} --chat-template a#b", "", "--chat-template a#b"),
    (f"{PY} --json '{{\"a\": 1}}'", "", '--json {"a":\u00a01}'.replace("\u00a0", " ")),
    (f'{PY} --x "a\\"b" \'c"d\'', "", '--x a"b c"d'),
    (f"M=m\n{PY} --model-path $M", "", "--model-path m"),
    (f'M=m\n{PY} --model-path "${{M}}/sub"', "", "--model-path m/sub"),
    (f"A=1; B=$A$A; {PY} --x ${{B}}0", "", "--x 110"),
    (f"ARGS='--tp 2 --dp 2'\n{PY} $ARGS", "", "--tp 2 --dp 2"),
    (f"ARGS=--tp\nARGS+=' 2'\n{PY} $ARGS --x", "", "--tp 2 --x"),
    (f'ARGS=(--tp 2 # two\n  --x)\nARGS+=(--y)\n{PY} "${{ARGS[@]}}"', "", "--tp 2 --x --y"),
    (f"CMD='{PY} --tp 2'\n$CMD --x", "", "--tp 2 --x"),
    (f"CMD='{PY} --tp 2'\neval $CMD --x", "", "--tp 2 --x"),
    (f"P=/opt/python\n$P -m sglang.launch_server --x {chr(36)}P", "", "--x /opt/python"),
    (f"{PY} --tp ${{TP:-4}}", "", "--tp 4"),
    (f"TP=2\n{PY} --tp ${{TP:-4}}", "", "--tp 2"),
    (f"{PY} --tp ${{A:-${{B:-3}}}}", "", "--tp 3"),
    (f': "${{TP:=2}}"\n{PY} --tp $TP', "", "--tp 2"),
    (f"{PY} ${{DEBUG:+--debug}} --tp 2", "", "--tp 2"),
    (f'{PY} --tp 2 "$@"', "", "--tp 2"),
    (f"EMPTY=\n{PY} $EMPTY --tp 2", "", "--tp 2"),
    (f'EMPTY=\n{PY} --name "$EMPTY" --tp 2', "", "--name  --tp 2"),
    (f"A=1\nif true; then\n  {PY} --tp $A\nfi", "", "--tp 1"),
    (f"for M in m; do {PY} --model-path $M; done", "", "--model-path m"),
    (f"run() {{\n  {PY} --tp 2\n}}\nrun", "", "--tp 2"),
    (f"case $1 in\n a) echo;;\n *) {PY} --tp 2;;\nesac", "", "--tp 2"),
    (f"cat <<EOF > f\n{PY} --tp 1\n  '\nEOF\n{PY} --tp 2", "", "--tp 2"),
    (f"pkill -f sglang.launch_server\necho {PY}\n{PY} --tp 2", "", "--tp 2"),
    (f"bash -c '{PY} --tp 2'", "", "--tp 2"),
    (f'M=m; bash -lc "cd /x && {PY} --model-path $M"', "", "--model-path m"),
    (f"export M=m; sh -c '{PY} --model-path $M'", "M=m", "--model-path m"),
    (
        f"docker run --gpus all -e A=1 --env B=2 --env=C=3 -v /a:/b -p 1:1 img {PY} --tp 2",
        "A=1|B=2|C=3",
        "--tp 2",
    ),
    (f"export A=1 B=2\nC=3 docker run -e A img {PY}", "A=1", ""),
    (f"sudo docker run -e A=1 img bash -c 'export B=2; {PY} --tp 2'", "A=1|B=2", "--tp 2"),
    (f'docker exec -e A=1 -it box bash -c "{PY} --tp 2"', "A=1", "--tp 2"),
    (f"mpirun -x A=1 -n 2 {PY} --tp 2", "A=1", "--tp 2"),
    (f"sleep 1; A=1 {PY}; sleep 2", "A=1", ""),
    (f"A=1; echo ${{A:+x}} ${{B:=k}} | cat; {PY} ${{B-none}}", "", "none"),
    (f"A=1; (export A; A=2; set -x); {PY} $A", "", "1"),
    (f"A=$B {PY} ${{B:=x}}", "A=x", "x"),
    (f"export URL=https://a.b/c?d=e\n{PY} --x", "URL=https://a.b/c?d=e", "--x"),
]


def _pairs(line: LaunchLine) -> str:
    return "|".join(f"{name}={value}" for name, value in line.environment)


@pytest.mark.parametrize(("text", "environment", "argv"), TABLE, ids=range(len(TABLE)))
def test_shell_text(text: str, environment: str, argv: str) -> None:
    line = one_launch(parse_launch_lines(text))
    assert (_pairs(line), " ".join(line.argv)) == (environment, argv)


@pytest.mark.parametrize(
    ("arguments", "environment", "argv"),
    [
        (["python", "-m", "sglang.launch_server", "--a b"], "", ["--a b"]),
        (["A=$X", "sglang", "serve", "m"], "A=$X", ["m"]),
        (["env", "A=1", "python3", "-m", "sglang.launch_server"], "A=1", []),
        (["--model-path", "m", "--tp", "8"], "", ["--model-path", "m", "--tp", "8"]),
        (["--", "--tp", "8"], "", ["--tp", "8"]),
        (["--tp=8"], "", ["--tp=8"]),
        ([f"A=1 {PY} --tp 8"], "A=1", ["--tp", "8"]),
        (["bash", "-c", f"{PY} --x 'a b'"], "", ["--x", "a b"]),
        (["--x", "$UNSET"], "", ["--x", "$UNSET"]),
    ],
)
def test_argument_list(arguments: list[str], environment: str, argv: list[str]) -> None:
    line = one_launch(parse_launch_lines(arguments))
    assert (_pairs(line), list(line.argv)) == (environment, argv)


def test_what_a_launch_says_of_itself() -> None:
    text = f"#!/bin/bash\nA=1 \\\n{PY} --config c.yaml --tp 2\nsglang serve org/model\n"
    first, second = parse_launch_lines(text)
    assert (first.program, first.line, first.name) == (PY, 2, "line 2")
    assert (first.config_file, first.positional_model) == ("c.yaml", None)
    assert (second.program, second.line, second.positional_model) == (
        "sglang serve",
        4,
        "org/model",
    )
    assert second.config_file is None
    (bare,) = parse_launch_lines(["--model-path", "m"])
    assert (bare.program, bare.line) == ("", None)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"{PY} \\\n  --tp 2 \\\n  # --dp 2 \\\n  --x\n", "line 4 starts with --x"),
        (f"{PY} --tp 2 \\ \n  --x\n", "line 2 starts with --x"),
        (f"source env.sh\n{PY}", "line 1 sources env.sh"),
        (f"{PY} --tp ${{TP:-4}}", "is taken as 4"),
        (f'{PY} "$@"', "taken as no arguments"),
        (f"docker run --env-file f img {PY}", "--env-file was not read"),
    ],
)
def test_notes(text: str, note: str) -> None:
    (line,) = parse_launch_lines(text)
    assert any(note in item for item in line.notes), line.notes


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        (f"export A=$(nproc)\n{PY}", ("A",)),
        (f"export PATH=/x:$PATH\n{PY}", ("PATH",)),
        (f"if x; then export A=1; fi\n{PY}", ("A",)),
        (f"[ -z $B ] && export A=1\n{PY}", ("A",)),
        (f"docker run -e HF_TOKEN img {PY}", ("HF_TOKEN",)),
        (f"A=`date` {PY}", ("A",)),
        (f"A=1; if x; then export A; fi\n{PY}", ("A",)),
    ],
)
def test_environment_that_the_text_does_not_tell(text: str, unknown: tuple[str, ...]) -> None:
    (line,) = parse_launch_lines(text)
    assert line.unknown_environment == unknown
    assert not line.environment


def test_given_variables_fill_what_the_script_leaves_open() -> None:
    text = f"if x; then TP=1; fi\nDP=2\n{PY} --tp $TP --dp $DP --rank ${{RANK:-5}} ${{TP:+--x}}"
    (line,) = parse_launch_lines(text, variables={"TP": "8", "DP": "9", "RANK": "3"})
    assert line.argv == ("--tp", "8", "--dp", "2", "--rank", "3", "--x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["starts no SGLang server"]),
        ("echo hello", ["starts no SGLang server"]),
        ("python -m sglang_router.launch_router --x", ["sglang_router.launch_router", "no server"]),
        (f"{PY} --a\n{PY} --b", ["line 1", "line 2", "2 servers"]),
        (f"{PY} --tp $TP", ["line 1", "$TP", "set nowhere", "--assume env.TP=VALUE"]),
        (f"{PY} --tp $TP --dp $DP --x $TP $(n)", ["$TP is set", "(also open: $DP, $(n))"]),
        (f"\n{PY} --ip $(hostname -I)", ["line 2", "$(hostname -I)", "running shell"]),
        (f"if x; then TP=1; else TP=2; fi\n{PY} --tp $TP", ["$TP", "condition at line 1"]),
        (f"[ -n x ] && TP=1\n{PY} --tp $TP", ["$TP", "condition at line 1"]),
        (f"[ -n x ] || TP=1\n{PY} --tp $TP", ["$TP", "condition at line 1"]),
        (f"for T in 1 2; do {PY} --tp $T; done", ["$T", "several values"]),
        (f"f() {{ TP=1; }}\n{PY} --tp $TP", ["$TP", "condition at line 1"]),
        (f"(TP=1; x)\n{PY} --tp $TP", ["$TP", "set nowhere"]),
        (f"if x; then A=1; fi\n{PY} ${{A:+--x}}", ["$A", "condition at line 1"]),
        (f"A=$B\n{PY} --x $A", ["$B", "set nowhere"]),
        (f"{PY} --x ${{A//b/c}}", ["${A//b/c}", "running shell"]),
        (f"{PY} --x 'abc", ["line 1", "never closed"]),
        (f'\n\n{PY} --x "abc', ["line 3", "never closed"]),
        (f"{PY} --x $(abc", ["line 1", "$(", "never closed"]),
        (f"A=(1 2\n{PY}", ["line 1", "list (", "never closed"]),
        (f"{PY} --x \0", ["NUL"]),
        (f'A=$B\nbash -c "{PY} --x $A"', ["$B", "set nowhere"]),
    ],
)
def test_errors_are_one_sentence(text: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        one_launch(parse_launch_lines(text, origin="run.sh"), "run.sh")
    message = str(caught.value)
    assert message.startswith("run.sh") and message.endswith(".") and "\n" not in message
    assert all(word in message for word in words), message
    assert len(message) < 400


def test_one_launch_by_name() -> None:
    lines = parse_launch_lines(f"{PY} --a\n{PY} --b")
    assert one_launch(lines, name="line 2").argv == ("--b",)
    with pytest.raises(UsageError, match=r"no launch named line 3; did you mean line \d\?"):
        one_launch(lines, name="line 3")
    with pytest.raises(UsageError, match="starts no SGLang server"):
        one_launch(())


@pytest.mark.parametrize(
    "value", ["[red]x[/red]", "<script>alert(1)</script>", "\x1b[31mx", "a\u202eb", "x" * 5000]
)
def test_hostile_text_is_kept_as_argument_and_escaped_in_messages(value: str) -> None:
    (line,) = parse_launch_lines(f"{PY} --x '{value}'")
    assert line.argv == ("--x", value)
    with pytest.raises(UsageError) as caught:
        one_launch((), f"{PY}") if not value else parse_launch_lines(f"python -m 'sglang_{value}'")
    assert caught.value.args[0].isprintable() and len(str(caught.value)) < 300


def test_a_doubling_variable_does_not_fill_the_memory() -> None:
    text = "A=xxxxxxxx\n" + 'A="$A$A"\n' * 60 + f"{PY} --x $A"
    with pytest.raises(UsageError, match="longer than sgl-audit keeps"):
        parse_launch_lines(text)


def test_nested_defaults_and_shells_end() -> None:
    deep = "${A:-" * 200 + "1" + "}" * 200
    with pytest.raises(UsageError, match="running shell"):
        parse_launch_lines(f"{PY} --x {deep}")
    text = f"{PY} --tp 2"
    for _ in range(7):
        text = "eval " + "'" + text.replace("'", "'\\''") + "'"
    with pytest.raises(UsageError, match="nested more than 5 deep"):
        parse_launch_lines(text)


def test_a_hundred_thousand_lines_are_fast() -> None:
    noise = "if [ -n \"$X\" ]; then Y='a b'; fi\n" * 5_000
    flags = "".join(f"  --flag-{number} value \\\n" for number in range(95_000))
    start = time.process_time()
    (line,) = parse_launch_lines(f"{noise}{PY} \\\n{flags}")
    assert len(line.argv) == 190_000
    assert line.line == 5_001
    assert time.process_time() - start < 8
