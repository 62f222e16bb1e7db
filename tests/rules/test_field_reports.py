"""Findings on real releases: entries of the field reports, by rule, place and capability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sgl_audit.extract.tree import extract
from sgl_audit.model.capability import ALL_CAPABILITIES as ALL
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules import RuleContext, check_rules
from sgl_audit.rules.layers import unusable
from sgl_audit.source import open_source

pytestmark = pytest.mark.real

FindReal = Callable[[str], tuple[Finding, ...]]


@dataclass(frozen=True)
class Entry:
    """One entry of the field reports: what must be found, and where it must no longer be."""

    name: str
    version: str
    rule: str
    file: str
    lines: range
    capabilities: str
    fixed: str = ""
    value: str | None = None
    severity: Severity | None = None


def at(line: int) -> range:
    """A line, as a range: a finding stands at the start of a statement of several lines."""
    return range(line, line + 1)


REGISTRY = "layers/attention/attention_registry.py"
CONFIGURER = "layers/deep_gemm_wrapper/configurer.py"
ENTRYPOINT = "layers/deep_gemm_wrapper/entrypoint.py"
ENTRIES = (
    Entry(
        "E03 preparation narrower than selection",
        "0.5.9", "SGA102", "server_args.py", range(1371, 1373), "sm120 sm121",
        "0.5.10", "flashinfer_mxfp4",
    ),
    Entry(
        "E05 a list of which only one value is left",
        "0.5.1", "SGA108", "server_args.py", range(2235, 2243), "sm120",
        value="triton",
    ),
    Entry(
        "E15 sparse attention defaults from major 10 on",
        "0.5.12", "SGA104", "server_args.py", range(1722, 1725), "sm120 sm121",
        value="trtllm",
    ),
    Entry(
        "E33 least capability only",
        "0.5.9", "SGA104", "layers/quantization/w4afp8.py", range(68, 75), "sm120",
        value="W4AFp8Config.get_min_capability",
    ),
    Entry(
        "E09 DeepGEMM from sm90 on",
        "0.5.9", "SGA104", CONFIGURER, at(11), "sm110 sm120 sm121",
    ),
    Entry(
        "E11 deep_gemm read outside of its gate",
        "0.5.9", "SGA111", ENTRYPOINT, at(114), "sm80 sm86 sm89",
        "0.5.10", "deep_gemm",
    ),
    Entry(
        "E12 the same in a second helper",
        "0.5.15", "SGA111", ENTRYPOINT, at(197), "sm89 sm120",
        "0.5.23", "deep_gemm",
    ),
    Entry(
        "E16 sparse attention defaults from major 10 on",
        "0.5.15", "SGA104", "arg_groups/overrides.py", at(1143), "sm120 sm121",
        value="trtllm",
    ),
    Entry(
        "E17 named sparse backend turned into another",
        "0.5.20", "SGA110", "layers/attention/dsa/dsa_backend_kpool.py", range(64, 66),
        "sm120 sm121", value="flashmla_sparse",
    ),
    Entry(
        "E18 sparse attention defaults from major 10 on",
        "0.5.20", "SGA104", "arg_groups/overrides.py", at(773), "sm121", value="trtllm",
    ),
    Entry(
        "E20 exactly (12, 0) beside the family",
        "0.5.20", "SGA106", "layers/attention/qwen_sparse_attn_backend.py", range(48, 57),
        "sm121",
    ),
    Entry(
        "E53 hybrid model on its default attention",
        "0.5.4", "SGA101", REGISTRY, range(198, 201), "sm100", "0.5.10", "flashinfer",
        Severity.ERROR,
    ),
    Entry(
        "hybrid GDN on SM120",
        "0.5.9", "SGA101", REGISTRY, range(203, 207), "sm120 sm121", "0.5.15", "flashinfer",
        Severity.ERROR,
    ),
    Entry(
        "E54 expert schemes of compressed-tensors",
        "0.5.4", "SGA112", "layers/quantization/compressed_tensors/compressed_tensors_moe.py",
        range(137, 142), "sm100", "0.5.9",
    ),
    Entry(
        "E60 switch forced off on SM12x",
        "0.5.20", "SGA110", "arg_groups/model_hook.py", at(387), "sm120 sm121",
        "0.5.23", "SGLANG_OPT_FP8_WO_A_GEMM",
    ),
    Entry(
        "R8 sparse attention choices overwritten with an FP8 cache",
        "0.5.10", "SGA110", "server_args.py", range(1465, 1468), "sm100 sm120", value="trtllm",
    ),
    Entry(
        "NVFP4 experts: nobody decides on SM120",
        "0.5.9", "SGA103", "layers/quantization/modelopt_quant.py", at(1683), "sm120 sm121",
        "0.5.15", "auto",
    ),
    Entry(
        "NVFP4 experts: what is left goes to SM100 kernels",
        "0.5.15", "SGA105", "layers/quantization/modelopt_quant.py", range(2446, 2453), "sm110",
        value="flashinfer_trtllm",
    ),
    Entry(
        "deprecated variable that counts with `auto` only",
        "0.5.9", "SGA109", "layers/quantization/fp4_utils.py", range(61, 64), "sm120",
        value="SGLANG_FLASHINFER_FP4_GEMM_BACKEND",
    ),
    Entry(
        "member without choice",
        "0.5.9", "SGA107", "layers/moe/utils.py", at(68), "sm120", value="marlin",
    ),
    Entry(
        "open range sends Olmo2 to FlashAttention 3",
        "0.5.9", "SGA101", REGISTRY, range(130, 134), "sm120", value="fa3",
        severity=Severity.ERROR,
    ),
)  # fmt: skip
MANY = 60


@pytest.fixture(scope="session")
def find_real(real_cache: Path) -> FindReal:
    """The findings of one release, once per session."""
    known: dict[str, tuple[Finding, ...]] = {}

    def find(version: str) -> tuple[Finding, ...]:
        if version not in known:
            tree = open_source(f"sglang=={version}", cache_dir=real_cache)
            read = extract(tree)
            result = check_rules(RuleContext(tree, read.facts, read, ALL))
            assert not result.diagnostics
            known[version] = result.findings
        return known[version]

    return find


def matching(found: tuple[Finding, ...], entry: Entry) -> list[Finding]:
    return [
        item
        for item in found
        if item.rule == entry.rule
        and item.place.file == f"sglang/srt/{entry.file}"
        and entry.value in (None, item.value)
    ]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_entry(entry: Entry, find_real: FindReal) -> None:
    found = matching(find_real(entry.version), entry)
    placed = [item for item in found if item.place.line in entry.lines]
    assert placed, [str(item.place) for item in found]
    assert set(entry.capabilities.split()) <= set(placed[0].capabilities)
    assert entry.severity in (None, placed[0].severity)


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.fixed], ids=lambda entry: entry.name
)
def test_entry_is_gone_where_it_was_fixed(entry: Entry, find_real: FindReal) -> None:
    wanted = set(entry.capabilities.split())
    still = list(matching(find_real(entry.fixed), entry))
    assert not [item for item in still if wanted & set(item.capabilities)]


@pytest.mark.parametrize("version", ("0.5.4", "0.5.9", "0.5.15", "0.5.23"))
def test_a_person_can_read_all_of_it(version: str, find_real: FindReal) -> None:
    found = find_real(version)
    assert len(found) <= MANY
    assert len({item.fingerprint for item in found}) == len(found)


@pytest.mark.parametrize(("version", "refused"), (("0.5.8.post1", True), ("0.5.9", False)))
def test_e32_sm110_was_missing_from_a_gate(version: str, refused: bool, real_cache: Path) -> None:
    tree = open_source(f"sglang=={version}", cache_dir=real_cache)
    read = extract(tree)
    context = RuleContext(tree, read.facts, read, ALL)
    assert unusable(context, "ModelOptNvFp4FusedMoEMethod", "sm110") is refused
    assert not unusable(context, "ModelOptNvFp4FusedMoEMethod", "sm100")


def test_nothing_is_an_error_where_the_default_is_known_to_work(find_real: FindReal) -> None:
    # NVFP4 on B200 is what 0.5.9 was made for.
    errors = [item for item in find_real("0.5.9") if item.severity is Severity.ERROR]
    assert not [item for item in errors if "sm100" in item.capabilities]
