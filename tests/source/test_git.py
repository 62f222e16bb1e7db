"""DIR@GITREF: the committed bytes, and nothing of the repository run."""

from __future__ import annotations

import os
import pickle

import pytest

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.model.source import SourceKind
from sgl_audit.source import content_key, open_source, plumbing
from sgl_audit.source.gitref import open_git, split_git_spec
from sgl_audit.source.limits import Limits
from sgl_audit.source.wanted import Wanted

PYTHON = (
    "sglang/__init__.py",
    "sglang/srt/__init__.py",
    "sglang/srt/server_args.py",
    "sglang/version.py",
)


def messages(tree) -> str:
    return "\n".join(diagnostic.message for diagnostic in tree.info.diagnostics)


@pytest.mark.parametrize("part", ["", "python", "python/sglang", "python/sglang/srt"])
def test_ref_is_read_not_the_working_tree(repository, git, part):
    tree = open_source(f"{repository / part}@v0.5.9")
    commit = git(repository, "rev-parse", "HEAD")
    assert tree.files() == PYTHON
    assert tree.read("sglang/srt/server_args.py") == b'CHOICES = ["auto"]\n'
    assert tree.read("sglang/srt/configs/x.json") == b'{"a": 1}'
    assert (tree.info.kind, tree.info.commit) == (SourceKind.GIT, commit)
    assert tree.info.upstream == f"https://github.com/sgl-project/sglang/blob/{commit}/python/"
    assert tree.info.distribution.pin("flashinfer-python") == "0.6.3"
    with pytest.raises(KeyError):
        tree.read("sglang/none.py")


def test_current_folder_and_label(repository, monkeypatch):
    monkeypatch.chdir(repository)
    assert open_source(".@main").info.label == "repo@main"


def test_package_at_the_root_and_bare_repository(tmp_path, write_files, git):
    root = write_files(tmp_path / "work", dict.fromkeys(PYTHON, b""))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "x")
    git(tmp_path, "clone", "-q", "--bare", "work", "bare.git")
    assert open_source(f"{tmp_path}/bare.git@main").files() == PYTHON


def test_nearest_package_counts(repository, write_files, git):
    other = dict.fromkeys((f"vendor/fork/{path}" for path in PYTHON), b"# fork\n")
    write_files(repository, other)
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "fork")
    assert open_source(f"{repository}/vendor/fork@main").read(PYTHON[0]) == b"# fork\n"
    assert open_source(f"{repository}@main").read(PYTHON[0]) == b""


def test_version_from_the_tag_where_only_a_build_would_know(repository, git):
    project = b'[project]\nname = "sglang"\ndynamic = ["version"]\n'
    (repository / "python/pyproject.toml").write_bytes(project)
    (repository / "python/sglang/version.py").write_bytes(b"from x import __version__\n")
    git(repository, "commit", "-qam", "dynamic")
    git(repository, "tag", "v0.5.15")
    git(repository, "branch", "v9.9")
    assert open_source(f"{repository}@v0.5.15").info.distribution.version == "0.5.15"
    assert open_source(f"{repository}@main").info.distribution.version is None
    assert open_source(f"{repository}@v9.9").info.distribution.version is None


def test_no_hook_monitor_or_filter_runs(repository, tmp_path, git):
    marker = tmp_path / "marker"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    script.chmod(0o755)
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (hooks / hook).chmod(0o755)
    (repository / ".git/info/attributes").write_text("*.py filter=evil diff=evil\n")
    for key in ("core.fsmonitor", "filter.evil.smudge", "diff.evil.textconv", "core.pager"):
        git(repository, "config", key, str(script))
    before = sorted(path for path in (repository / ".git").rglob("*"))
    tree = open_source(f"{repository}@v0.5.9")
    assert [len(tree.read(path)) for path in tree.files()] == [0, 0, 19, 22]
    assert not marker.exists()
    assert sorted(path for path in (repository / ".git").rglob("*")) == before


def test_environment_cannot_point_git_elsewhere(repository, monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    assert open_source(f"{repository}@v0.5.9").files() == PYTHON


@pytest.mark.parametrize("ref", ["", "-x", "--output=/tmp/x", "a\nb", "v1\x1b"])
def test_refs_that_are_refused_unasked(repository, ref, monkeypatch):
    def unexpected(*_: object) -> bytes:
        raise AssertionError("git was asked")

    monkeypatch.setattr("sgl_audit.source.gitref.ask", unexpected)
    with pytest.raises(UsageError, match="is no git ref"):
        open_source(f"{repository}@{ref}")


@pytest.mark.parametrize("ref", ["v9.9.9", "HEAD:python", "HEAD~99", "0" * 40, "main..v0.5.9"])
def test_ref_that_names_no_commit(repository, ref):
    with pytest.raises(SourceError, match="names no commit in"):
        open_source(f"{repository}@{ref}")


def test_not_a_repository(checkout):
    with pytest.raises(SourceError, match=r"no git repository|no commit|no sglang package"):
        open_source(f"{checkout}@main")


def test_no_git_on_this_machine(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SourceError, match="install git"):
        open_source(f"{repository}@v0.5.9")


def test_commit_without_the_package(repository, git):
    git(repository, "rm", "-rqf", "python/sglang/srt")
    git(repository, "commit", "-qm", "less")
    with pytest.raises(SourceError, match="because it lacks srt"):
        open_source(f"{repository}@main")
    git(repository, "rm", "-rqf", "python")
    (repository / "README").write_text("x")
    git(repository, "add", "README")
    git(repository, "commit", "-qm", "nothing")
    with pytest.raises(SourceError, match="holds no sglang package"):
        open_source(f"{repository}@main")


def test_links_submodules_and_odd_names(repository, git):
    package = repository / "python/sglang"
    (package / "alias.py").symlink_to("srt/../version.py")
    (package / "out.py").symlink_to("/etc/passwd")
    (package / "loop.py").symlink_to("loop.py")
    os.close(os.open(os.fsencode(package) + b"/bad\xff.py", os.O_CREAT | os.O_WRONLY))
    git(repository, "add", ".")
    commit = git(repository, "rev-parse", "HEAD")
    entry = f"160000,{commit},python/sglang/sub"
    git(repository, "update-index", "--add", "--cacheinfo", entry)
    git(repository, "commit", "-qm", "odd")
    tree = open_source(f"{repository}@main")
    assert tree.files() == ("sglang/__init__.py", "sglang/alias.py", *PYTHON[1:])
    assert tree.read("sglang/alias.py") == tree.read("sglang/version.py")
    text = messages(tree)
    for part in ("out.py is left", "loop.py is left", r"bad\udcff.py is left", "a submodule"):
        assert part in text


def test_limits(repository):
    with pytest.raises(SourceError, match="over 2 files"):
        open_git(repository, "v0.5.9", Wanted("sglang", "sglang", Limits(entries=2)))
    tree = open_git(repository, "v0.5.9", Wanted("sglang", "sglang", Limits(python_bytes=20)))
    with pytest.raises(SourceError, match="over the limit of 20 bytes"):
        tree.read("sglang/version.py")
    assert tree.read("sglang/srt/server_args.py") == b'CHOICES = ["auto"]\n'


def test_object_that_is_gone_is_one_sentence(repository, git):
    tree = open_source(f"{repository}@v0.5.9")
    blob = git(repository, "rev-parse", "v0.5.9:python/sglang/version.py")
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SourceError, match="cannot be read"):
        tree.read("sglang/version.py")
    assert tree.read("sglang/srt/configs/x.json") == b'{"a": 1}'


def test_pickled_tree_and_key(repository):
    tree = open_source(f"{repository}@v0.5.9")
    tree.read("sglang/version.py")
    copy = pickle.loads(pickle.dumps(tree))
    assert copy.read("sglang/version.py") == tree.read("sglang/version.py")
    assert content_key(copy) == content_key(open_source(f"{repository}@main"))


def test_reader_survives_its_process(repository):
    reader = plumbing.BlobReader(repository)
    name = "v0.5.9:python/sglang/version.py"
    data = reader.blob(name, 100)
    assert reader._process is not None
    reader._process.kill()
    reader._process.wait()
    assert reader.blob(name, 100) == data
    with pytest.raises(plumbing.GitFault, match="is a tree"):
        reader.blob("v0.5.9:python", 100)
    with pytest.raises(plumbing.GitFault, match="not printable"):
        reader.blob("v0.5.9:python\n", 100)


def test_longest_folder_before_an_at_sign_counts(tmp_path):
    folder = tmp_path / "me@home" / "sglang"
    folder.mkdir(parents=True)
    assert split_git_spec(f"{folder}@HEAD@{{1}}") == (folder, "HEAD@{1}")
    assert split_git_spec("sglang@https://example.org") is None
    assert split_git_spec("@v1") is None
