"""The configuration file: where it is found, what it may say, what is wrong in one sentence."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit.model.settings import RuleSetting, Settings
from sgl_audit.settings.reading import find_settings, read_settings


def written(folder: Path, text: str, name: str = "sgl-audit.toml") -> Path:
    """A configuration file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_every_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(
        tmp_path / "conf",
        """
        source = "sglang==0.5.23"
        arch = ["sm120", "h100"]
        fail-on = "warning"
        assume = { cuda = 12.8, gpu_count = 8, env.SGLANG_X = "1" }
        launches = "serve.sh"
        advisories = "advisories"
        evidence = "runs"
        baseline = "known.json"
        offline = true
        [diff]
        fail-on = "breaking"
        [rules]
        SGA105 = "off"
        SGA104 = "note"
        "SGA11*" = true
        [[suppress]]
        reason = "we pass triton"
        rule = "SGA101"
        option = "attention_backend"
        file = "sglang/srt/*"
        arch = ["rtx-5090"]
        expires = 2027-01-31
        """,
    )
    settings = read_settings(path)
    assert dict(settings.values) == {
        "source": "sglang==0.5.23",
        "arch": ("sm120", "h100"),
        "fail-on": "warning",
        "assume": ("cuda=12.8", "gpu_count=8", "env.SGLANG_X=1"),
        "launches": ("conf/serve.sh",),
        "advisories": "conf/advisories",
        "evidence": "conf/runs",
        "baseline": "conf/known.json",
        "offline": "true",
        "diff.fail-on": "breaking",
    }
    assert settings.rules == (
        ("SGA105", RuleSetting.OFF),
        ("SGA104", RuleSetting.NOTE),
        ("SGA11*", RuleSetting.ON),
    )
    (item,) = settings.suppressions
    assert item.origin == "sgl-audit.toml [[suppress]] 1"
    assert (item.arch, item.expires) == (("sm120",), date(2027, 1, 31))


def test_a_source_beside_the_file_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf" / "tree").mkdir(parents=True)
    path = written(tmp_path / "conf", 'source = "tree"')
    monkeypatch.chdir(tmp_path)
    assert read_settings(path).value("source") == "conf/tree"
    written(tmp_path / "conf", 'source = "tree@v0.5.9"')
    assert read_settings(path).value("source") == "conf/tree@v0.5.9"
    written(tmp_path / "conf", 'source = "sglang@main"')
    assert read_settings(path).value("source") == "sglang@main"


def test_the_nearest_file_counts_and_the_repository_is_the_limit(tmp_path: Path) -> None:
    written(tmp_path, 'arch = "sm75"')
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    deep = repository / "a" / "b"
    deep.mkdir(parents=True)
    assert find_settings(deep) == Settings()
    written(repository, '[tool.sgl-audit]\narch = "sm90"', "pyproject.toml")
    written(repository / "a", "[tool.other]\nx = 1", "pyproject.toml")
    assert find_settings(deep).value("arch") == ("sm90",)
    assert find_settings(deep).origin == "pyproject.toml [tool.sgl-audit]"
    written(repository / "a", 'arch = "sm120"')
    assert find_settings(deep).value("arch") == ("sm120",)
    written(deep, '[tool.sgl-audit]\narch = "sm80"', "pyproject.toml")
    written(deep, 'arch = "sm89"')
    assert find_settings(deep).value("arch") == ("sm89",)


@pytest.mark.parametrize("name", ["sgl_audit", "sglaudit", "SGL-audit"])
def test_a_section_by_nearly_that_name_is_not_passed_over(tmp_path: Path, name: str) -> None:
    written(tmp_path, f'[tool.{name}]\narch = "sm90"', "pyproject.toml")
    with pytest.raises(UsageError, match=r"did you mean \[tool\.sgl-audit\]\?"):
        find_settings(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fail_on = 'error'", "there is no key 'fail_on'; did you mean fail-on?"),
        ("archs = 'sm90'", "there is no key 'archs'; did you mean arch?"),
        ("zzz = 1", "there is no key 'zzz'; known are advisories, arch,"),
        ("arch = 'sm999'", "arch 'sm999' is no compute capability"),
        ("arch = 120", "arch is 120, and must be a text or a list of texts"),
        ("fail-on = 'errors'", "must be one of error, warning, note, never"),
        ("source = ''", "source is '', and must be a text that is not empty"),
        ("offline = 1", "offline is 1, and must be true or false"),
        ("assume = 3", "must be a table; write [assume]"),
        ("assume = { cudaa = 1 }", "cudaa is nothing that sgl-audit assumes"),
        ("assume = { cuda = true }", "assume.cuda is True, and must be a text or a number"),
        ("[rules]\nSGA1001 = 'off'", "there is no rule 'SGA1001'; did you mean SGA1"),
        ("[rules]\nSGA101 = 'of'", "must be one of on, off, error, warning, note"),
        ("[diff]\nfail-on = 'error'", "[diff]: fail-on is 'error', and must be one of breaking"),
        ("[suppress]\nrule = 'SGA101'", "must be an array of tables; write [[suppress]]"),
        ("[[suppress]]\nrule = 'SGA101'", "[[suppress]] 1: there is no reason"),
        ("[[suppress]]\nreason = 'x'", "would suppress everything"),
        ("[[suppress]]\nreason = 'x'\nrule = 'X'", "there is no rule 'X'"),
        ("[[suppress]]\nreason = 'x'\nrules = 'X'", "no key 'rules'; did you mean rule?"),
        (
            "[[suppress]]\nreason = 'x'\nrule = 'SGA101'\nexpires = 'soon'",
            "must be a day such as 2027-01-31",
        ),
        ("arch = ", "is no TOML"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_settings(path)
    assert said in str(caught.value)
    assert "sgl-audit.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_named_must_be_there_and_hold_the_section(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(tmp_path / "nothing.toml")
    path = written(tmp_path, "[tool.x]", "pyproject.toml")
    with pytest.raises(UsageError, match=r"has no \[tool.sgl-audit\]"):
        read_settings(path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        read_settings(tmp_path / "binary.toml")
