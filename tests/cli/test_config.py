"""Settings as the commands use them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from sgl_audit import api
from sgl_audit.cli import options
from sgl_audit.errors import UsageError
from sgl_audit.model.report import Severity
from sgl_audit.model.source import SourceTree

from . import samples
from .conftest import TREE, Run

FINDINGS = (
    samples.finding(Severity.ERROR, "moe_runner_backend"),
    samples.finding(Severity.NOTE, "attention_backend"),
)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """A stand-in for the audit that keeps what it was asked; run in an empty folder."""
    seen: dict[str, Any] = {}

    def audit(tree: SourceTree, **given: Any) -> Any:
        seen.update(given, tree=tree)
        return samples.audit(tree, given["capabilities"], findings=seen.get("findings", FINDINGS))

    monkeypatch.setattr(api, "audit", audit)
    monkeypatch.setattr(api, "open_libraries", lambda tree, **given: ((), ()))
    monkeypatch.chdir(tmp_path)
    return seen


def configure(text: str, name: str = "sgl-audit.toml") -> None:
    """Write the configuration of the current folder."""
    Path(name).write_text(text, "utf-8")


def test_the_file_gives_what_the_command_line_does_not(run: Run, asked: dict[str, Any]) -> None:
    configure(
        f'source = "{TREE}"\narch = ["sm90", "b200"]\nfail-on = "never"\n'
        'assume = { cuda = "12.8", gpu_count = 4 }'
    )
    assert run().code == 0
    assert asked["tree"].info.label == "dataclass_2026"
    assert asked["capabilities"] == ("sm90", "sm100")
    assert asked["assume"] == (("cuda", "12.8"), ("gpu_count", "4"))
    done = run("--arch", "sm120", "--fail-on", "error", "--assume", "cuda=13.0", "driver=580")
    assert done.code == 1
    assert asked["capabilities"] == ("sm120",)
    assert asked["assume"] == (("gpu_count", "4"), ("cuda", "13.0"), ("driver", "580"))


def test_the_environment_counts_before_the_file(
    run: Run, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure('arch = "sm90"')
    monkeypatch.setenv("SGL_AUDIT_ARCH", "sm120")
    run(TREE)
    assert asked["capabilities"] == ("sm120",)


def test_each_command_takes_its_own_threshold(run: Run) -> None:
    configure('[diff]\nfail-on = "never"')
    assert run(TREE).code == 1
    configure('fail-on = "never"')
    assert run(TREE).code == 0


def test_another_file_or_none(run: Run, asked: dict[str, Any]) -> None:
    configure('arch = "sm90"')
    configure('[tool.sgl-audit]\narch = "sm80"', "pyproject.toml")
    run(TREE)
    assert asked["capabilities"] == ("sm90",)
    run(TREE, "--config", "pyproject.toml")
    assert asked["capabilities"] == ("sm80",)
    run(TREE, "--config", "none")
    assert asked["capabilities"] == api.ALL_CAPABILITIES


def test_a_wrong_file_stops_every_command(run: Run) -> None:
    configure("archs = 'sm90'")
    for words in ((TREE,), ("facts", TREE), ("show", TREE, "moe_runner_backend")):
        done = run(*words)
        assert done.code == 2
        assert done.err == (
            "sgl-audit: sgl-audit.toml: there is no key 'archs'; did you mean arch?\n"
        )


def test_commands_that_take_a_name_take_the_source_of_the_file(run: Run) -> None:
    configure(f'source = "{TREE}"')
    assert "0.5.90" not in run("show", "moe_runner_backend").err
    assert "moe_runner_backend" in run("show", "moe_runner_backend").out


def test_a_suppressed_error_does_not_fail_and_is_still_told(run: Run) -> None:
    configure(
        f'source = "{TREE}"\narch = "sm120"\n'
        '[[suppress]]\nreason = "we pass triton"\noption = "moe_runner_backend"\n'
        '[[suppress]]\nreason = "old"\noption = "gone"'
    )
    done = run("--details")
    assert done.code == 0
    assert "0 errors, 0 warnings, 1 note; 1 suppressed" in done.out
    assert "(suppressed: we pass triton)" in done.out
    assert "NOT SAFE BY DEFAULT" in done.out
    assert "[[suppress]] 2 (old) fits no finding on sm120: drop it" in done.err
    whole = json.loads(run("--format", "json").out)
    assert whole["summary"]["findings"]["error"] == 0
    assert whole["summary"]["handled"]["suppressed"] == 1
    assert whole["summary"]["by_capability"]["sm120"]["standing"] == "not safe by default"
    handled = {item["option"]: item["handled"] for item in whole["findings"]}
    assert handled == {
        "moe_runner_backend": "suppressed: we pass triton",
        "attention_backend": None,
    }


def test_a_baseline_from_writing_to_news(run: Run, asked: dict[str, Any]) -> None:
    words = (TREE, "--arch", "sm120", "--flashinfer", "none")
    assert run(*words).code == 1
    done = run(*words, "--write-baseline", "known.json")
    assert (done.code, done.out) == (0, "")
    assert done.err == "sgl-audit: wrote known.json: 2 known from now on\n"
    assert run(*words, "--baseline", "known.json").code == 0
    configure('baseline = "known.json"')
    done = run(*words)
    assert done.code == 0
    assert "2 in the baseline" in done.out
    news = samples.finding(Severity.ERROR, "kv_cache_dtype")
    asked["findings"] = (*FINDINGS, news)
    assert run(*words).code == 1
    assert run(*words, "--write-baseline", "known.json").code == 0
    assert run(*words).code == 0
    asked["findings"] = FINDINGS
    assert "that are gone: error-kv_cache_dtype" in run(*words).err


def test_a_first_baseline_may_be_written_where_the_file_names_it(run: Run) -> None:
    configure('baseline = "known.json"')
    assert "--write-baseline known.json" in run(TREE).err
    assert run(TREE, "--write-baseline", "known.json").code == 0
    assert run(TREE).code == 0


def test_show_config_is_toml_with_the_origin_of_each_value(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(
        '[tool.sgl-audit]\narch = ["rtx-5090", "sm90"]\nassume = { cuda = "12.8" }\n'
        '[tool.sgl-audit.rules]\nSGA104 = "off"\n'
        '[[tool.sgl-audit.suppress]]\nreason = "x"\nrule = "SGA101"\nexpires = 2020-01-01',
        "pyproject.toml",
    )
    monkeypatch.setenv("SGL_AUDIT_OFFLINE", "1")
    done = run("--show-config", "--fail-on", "note")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "# read from pyproject.toml [tool.sgl-audit]"
    assert 'arch = ["rtx-5090", "sm90"]  # pyproject.toml [tool.sgl-audit]' in lines
    assert 'fail-on = "note"  # command line' in lines
    assert "offline = true  # environment" in lines
    assert "# source is not set" in lines
    assert "[[suppress]]  # expired, pyproject.toml [[tool.sgl-audit.suppress]] 1" in lines
    values = tomllib.loads(done.out)
    assert values["assume"] == {"cuda": "12.8"}
    assert values["rules"] == {"SGA104": "off"}
    # What is printed is a configuration file itself.
    Path("pyproject.toml").unlink()
    configure(done.out)
    assert tomllib.loads(run("--show-config").out) == values


def test_a_list_where_one_is_taken_matters_only_if_it_is_needed(run: Run) -> None:
    @click.command("one")
    @click.option("--launches")
    @options.opening_options
    def one(launches: str, offline: bool, cache_dir: Path | None) -> None:
        click.echo(launches)

    configure('launches = ["a.sh", "b.sh"]')
    with pytest.raises(UsageError, match="takes one of launches"):
        one.main([], standalone_mode=False)
    assert one.main(["--launches", "c.sh"], standalone_mode=False) is None
    configure('launches = ["a.sh"]')
    assert one.main([], standalone_mode=False) is None
