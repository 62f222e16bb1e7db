"""Requirements, core metadata, pyproject.toml and version literals."""

from __future__ import annotations

import pytest

from sgl_audit.model.source import Distribution, Pin
from sgl_audit.source.metadata import parse_metadata, parse_requirements
from sgl_audit.source.names import Notes
from sgl_audit.source.project import project_distribution, version_literal
from sgl_audit.source.wanted import Wanted, upstream_at_commit, upstream_at_version

SGLANG = Wanted("sglang", "sglang")


@pytest.mark.parametrize(
    ("line", "pin"),
    [
        ("flashinfer_python[cu13]==0.7.2", Pin("flashinfer-python", "==0.7.2", "0.7.2")),
        ("torch===2.9.1", Pin("torch", "===2.9.1", "2.9.1")),
        ("numpy", Pin("numpy", "")),
        ("x==1.*", Pin("x", "==1.*")),
        ("kernels<0.15,>=0.14.1", Pin("kernels", "<0.15,>=0.14.1")),
        ("a==1,!=2", Pin("a", "!=2,==1")),
        ("b @ https://example.org/b.whl", Pin("b", "@ https://example.org/b.whl")),
        ("c==1; extra == 'all_hip'", Pin("c", "==1", "1", "all-hip")),
        ("d==1; python_version > '3' and extra == 'x'", Pin("d", "==1", "1", "x")),
    ],
)
def test_requirement(line, pin):
    notes = Notes()
    assert parse_requirements([line], notes) == (pin,)
    assert notes.diagnostics() == ()


def test_requirement_of_two_extras_is_a_pin_of_each():
    pins = parse_requirements(["c==1; extra == 'a' or extra == 'b'"], Notes())
    assert [pin.extra for pin in pins] == ["a", "b"]


def test_linux_requirements_come_first():
    lines = [
        "av==1; platform_machine == 'aarch64'",
        "av==2; sys_platform == 'linux'",
        "z; nope>'1'",
    ]
    notes = Notes()
    assert [pin.version for pin in parse_requirements(lines, notes)] == ["2", "1"]
    assert [diagnostic.message for diagnostic in notes.diagnostics()] == [
        "the requirement 'z; nope>'1'' was not understood and is left out."
    ]


def test_metadata_with_a_licence_in_its_headers_and_a_body():
    data = b"Name: SGL_ang\nLicense:  x\n        \n        Version 2.0\nVersion: 0.5.9\n"
    data += b"Requires-Dist: torch==2.9.1\n\nRequires-Dist: not-a-header==1\n\xff"
    assert parse_metadata(data, "sglang", Notes()) == Distribution(
        "sgl-ang", "0.5.9", (Pin("torch", "==2.9.1", "2.9.1"),)
    )


def test_metadata_that_says_nothing():
    assert parse_metadata(b"\x00\xff", "SGLang", Notes()) == Distribution("sglang", None)


def test_pin_falls_back_on_extras_that_agree():
    lines = ["torch==2.7.1; extra == 'srt'", "torch==2.7.1; extra == 'blackwell'"]
    lines += ["k==1; extra == 'a'", "k==2; extra == 'b'", "k", "n==3; extra == 'a'", "n==4"]
    distribution = Distribution("sglang", None, parse_requirements(lines, Notes()))
    assert distribution.pin("torch") == "2.7.1"
    assert distribution.pin("k") is None
    assert distribution.pin("absent", "n") == "4"


@pytest.mark.parametrize(
    ("data", "version"),
    [
        (b'__version__ = "0.5.9"', "0.5.9"),
        (b"__version__ = version = '0.5.9'", "0.5.9"),
        (b'__version__: str = "1"', "1"),
        (b"version: str\nversion = '2'", "2"),
        (b"try:\n    x\nexcept E:\n    __version__ = '0.0.0.dev0'", None),
        (b"__version__ = f()", None),
        (b"a.version = '1'", None),
        (b"def (", None),
        (b"\xff\x00", None),
        (b"(" * 5000, None),
    ],
)
def test_version_literal(data, version):
    assert version_literal(data) == version


def project(files: dict[str, bytes], wanted: Wanted = SGLANG) -> tuple[Distribution, list[str]]:
    notes = Notes()
    distribution = project_distribution(files.get, wanted, notes)
    return distribution, [diagnostic.message for diagnostic in notes.diagnostics()]


def test_project_with_dynamic_version_takes_the_literal():
    table = b'[project]\nname="SGLang"\ndynamic=["version"]\ndependencies=["torch==2.9.1", 7]'
    distribution, messages = project(
        {"pyproject.toml": table, "sglang/version.py": b"__version__ = '0.5.4'"}
    )
    assert (distribution.version, distribution.pin("torch"), messages) == ("0.5.4", "2.9.1", [])


@pytest.mark.parametrize(
    ("text", "version"),
    [(b"0.6.3\n", "0.6.3"), (b"two words", None), (b"", None), (None, None)],
)
def test_version_file_of_setuptools(text, version):
    table = b'[project]\nname="flashinfer-python"\n[tool.setuptools.dynamic]\n'
    files = {"pyproject.toml": table + b'version={file=["version.txt"]}'}
    if text is not None:
        files["version.txt"] = text
    assert project(files, Wanted("flashinfer", "flashinfer-python"))[0].version == version


@pytest.mark.parametrize("path", [b"../../secret", b"/etc/hostname"])
def test_version_file_stays_in_the_project(path):
    table = b'[project]\nname="sglang"\n[tool.setuptools.dynamic]\nversion={file="' + path + b'"}'
    files = {"pyproject.toml": table, path.decode(): b"9"}
    assert project(files)[0].version is None


def test_project_of_another_name_is_not_its_own():
    table = b'[project]\nname="monorepo"\nversion="7"\ndependencies=["torch==1"]'
    assert project({"pyproject.toml": table})[0] == Distribution("sglang", None)
    assert project({"pyproject.toml": b"project = 3"})[0] == Distribution("sglang", None)


@pytest.mark.parametrize("table", [b"[project", b"\xff"])
def test_broken_project_file_is_a_diagnostic(table):
    distribution, messages = project({"pyproject.toml": table})
    assert distribution == Distribution("sglang", None)
    assert messages[0].startswith("pyproject.toml was not understood (")


def test_extras_of_a_project():
    table = b'[project]\nname="sglang"\n[project.optional-dependencies]\nall_x=["d==1", "e"]'
    assert project({"pyproject.toml": table})[0].requires == (
        Pin("d", "==1", "1", "all-x"),
        Pin("e", "", None, "all-x"),
    )


def test_upstream_links_only_where_a_tag_can_be_named():
    assert upstream_at_version(SGLANG, "sglang", "0.5.9") is not None
    for name, version in (
        ("fork", "0.5.9"),
        ("sglang", None),
        ("sglang", "dev"),
        ("sglang", "1+l"),
    ):
        assert upstream_at_version(SGLANG, name, version) is None
    assert upstream_at_commit(Wanted("x", "x"), "abc") is None
