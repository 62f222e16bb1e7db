"""Model families resolved with nothing set: what the defaults become for what people serve.

The families are architectures times checkpoint quantizations. Which architectures: those of a
small table of shapes people serve, as far as the tree implements them, and those that the guards
of the tree's own decisions name.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sgl_audit.audit.places import bytes_of
from sgl_audit.evaluate.batch import started_many
from sgl_audit.launch import synthetic_config
from sgl_audit.model.facts import Facts, JsonValue
from sgl_audit.model.guard import AtomKind, atoms
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import FamilyRow
from sgl_audit.model.resolution import Launch, Outcome, Refusal, Resolution
from sgl_audit.model.source import SourceTree

ARCHITECTURE = re.compile(r"['\"]([A-Z][A-Za-z0-9_]*(?:For[A-Z][A-Za-z]+|LMHeadModel|Model))['\"]")
# What the values of a family show, in report order.
SHOWN = (
    "attention_backend",
    "prefill_attention_backend",
    "decode_attention_backend",
    "moe_runner_backend",
    "fp4_gemm_runner_backend",
    "fp8_gemm_runner_backend",
    "bf16_gemm_backend",
    "linear_attn_backend",
    "mamba_backend",
    "nsa_prefill_backend",
    "nsa_decode_backend",
    "dsa_prefill_backend",
    "dsa_decode_backend",
    "kv_cache_dtype",
    "sampling_backend",
    "quantization",
    "page_size",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of model with the architectures that stand for it, the first one known is taken.

    Attributes:
        config: what config.json says beside architecture, type and quantization; published
            checkpoints of that kind say it too.
    """

    name: str
    architectures: tuple[tuple[str, str], ...]
    quantizations: tuple[str | None, ...] = (None, "FP8", "NVFP4")
    config: tuple[tuple[str, JsonValue], ...] = ()


SHAPES = (
    Shape("MoE", (("Qwen3MoeForCausalLM", "qwen3_moe"), ("MixtralForCausalLM", "mixtral"))),
    Shape("dense", (("LlamaForCausalLM", "llama"),), (None, "FP8", "NVFP4", "INT4 AWQ")),
    Shape(
        "hybrid GDN MoE",
        (
            ("Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe"),
            ("Qwen3NextForCausalLM", "qwen3_next"),
        ),
    ),
    Shape("MLA MoE", (("DeepseekV3ForCausalLM", "deepseek_v3"),), ("FP8", "NVFP4")),
    Shape(
        "sparse MLA MoE",
        (("DeepseekV32ForCausalLM", "deepseek_v32"),),
        ("FP8", "NVFP4"),
        (("index_head_dim", 128), ("index_n_heads", 64), ("index_topk", 2048)),
    ),
    Shape("MXFP4 MoE", (("GptOssForCausalLM", "gpt_oss"),), ("MXFP4",)),
    Shape(
        "hybrid Mamba MoE",
        (("NemotronHForCausalLM", "nemotron_h"),),
        (None, "modelopt FP8", "NVFP4"),
        # As in Nemotron 3 Nano 30B-A3B; the class's own default has no layer with experts. Its
        # experts' 1856 rows fit no blocks of 128, so that its FP8 has one scale for each tensor.
        (
            ("hybrid_override_pattern", "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"),
            ("num_hidden_layers", 52),
            ("n_routed_experts", 128),
            ("num_experts_per_tok", 6),
            ("moe_intermediate_size", 1856),
            ("moe_shared_expert_intermediate_size", 3712),
            ("hidden_size", 2688),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Family:
    """One architecture with one checkpoint quantization."""

    architecture: str
    quantization: str | None
    shape: str
    config: tuple[tuple[str, JsonValue], ...]

    @property
    def name(self) -> str:
        """How reports name it."""
        return f"{self.architecture} {self.quantization or 'BF16'}"

    @property
    def group(self) -> str:
        """The kind people speak of: quantization and shape."""
        text = f"{self.quantization or 'BF16'} {self.shape}"
        return "MXFP4 MoE" if text == "MXFP4 MXFP4 MoE" else text


def served_families(tree: SourceTree, facts: Facts, *, named: bool = False) -> tuple[Family, ...]:
    """The families to resolve for a tree.

    Args:
        named: also every architecture that a guard of the tree's decisions names.
    """
    found = list(known_families(tree))
    known = {family.architecture for family in found}
    if named or not found:
        for name in named_architectures(facts):
            if name not in known:
                found += [Family(name, q, name, ()) for q in (None, "FP8", "NVFP4")]
    return tuple(found)


def known_families(tree: SourceTree) -> tuple[Family, ...]:
    """The families of the table of shapes, as far as the tree implements them."""
    present = implemented(tree)
    found: list[Family] = []
    for shape in SHAPES:
        pair = next((pair for pair in shape.architectures if pair[0] in present), None)
        if pair is not None:
            found += [
                Family(pair[0], q, shape.name, (("model_type", pair[1]), *shape.config))
                for q in shape.quantizations
            ]
    return tuple(found)


def implemented(tree: SourceTree) -> frozenset[str]:
    """Class names defined in the tree's model files."""
    names: set[str] = set()
    pattern = re.compile(rb"^class (\w+)\(", re.MULTILINE)
    prefix = f"{tree.info.package}/srt/models/"
    for path in tree.files():
        if path.startswith(prefix):
            data = bytes_of(tree, path)
            names.update(match.group(1).decode() for match in pattern.finditer(data))
    return frozenset(names)


def named_architectures(facts: Facts) -> tuple[str, ...]:
    """Architectures that guards of decisions and rejections name, sorted."""
    names: set[str] = set()
    guards = [*(d.guard for d in facts.decisions), *(r.guard for r in facts.rejections)]
    for guard in guards:
        for atom in atoms(guard):
            if atom.kind in (AtomKind.MODEL, AtomKind.OPAQUE):
                names.update(ARCHITECTURE.findall(atom.text))
    return tuple(sorted(names))


def config_of(family: Family) -> dict[str, object]:
    """A config.json for a family: what it must say, the rest left to the class's own defaults."""
    full = synthetic_config(family.architecture, family.quantization)
    kept = ("architectures", "model_type", "quantization_config", "torch_dtype")
    config = {name: full[name] for name in kept if name in full}
    config.update(dict(family.config))
    return config


@contextmanager
def model_folders(families: Iterable[Family]) -> Iterator[dict[Family, str]]:
    """Temporary model folders for families."""
    with tempfile.TemporaryDirectory(prefix="sgl-audit-") as root:
        folders: dict[Family, str] = {}
        for index, family in enumerate(families):
            folder = Path(root) / f"model-{index}"
            folder.mkdir()
            text = json.dumps(config_of(family), sort_keys=True)
            (folder / "config.json").write_text(text, encoding="utf-8")
            folders[family] = str(folder)
        yield folders


Answers = list[tuple[Family, Resolution]]


def resolve_families(
    tree: SourceTree,
    families: tuple[Family, ...],
    capabilities: tuple[str, ...],
    *,
    libraries: tuple[SourceTree, ...] = (),
    assume: tuple[tuple[str, str], ...] = (),
    cards: Mapping[str, str] | None = None,
    jobs: int = 1,
    flags: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Answers:
    """Each family on each capability, with the given flags and nothing else set."""
    with started_families(
        tree,
        families,
        capabilities,
        libraries=libraries,
        assume=assume,
        cards=cards,
        jobs=jobs,
        flags=flags,
    ) as finish:
        return finish(progress)


@contextmanager
def started_families(
    tree: SourceTree,
    families: tuple[Family, ...],
    capabilities: tuple[str, ...],
    *,
    libraries: tuple[SourceTree, ...] = (),
    assume: tuple[tuple[str, str], ...] = (),
    cards: Mapping[str, str] | None = None,
    jobs: int = 1,
    flags: tuple[str, ...] = (),
) -> Iterator[Callable[[Progress | None], Answers]]:
    """Families that are resolved meanwhile, where there are processes for it."""
    with model_folders(families) as folders:
        cells = [(family, name) for name in capabilities for family in families]
        launches = tuple(
            Launch(
                id=f"{family.name} on {name}",
                capability=name,
                argv=("--model-path", folders[family], *flags),
                assume=assume,
                card=(cards or {}).get(name),
            )
            for family, name in cells
        )
        with started_many(tree, libraries, launches, jobs) as finish:
            yield lambda progress: [
                (family, answer)
                for (family, _), answer in zip(cells, finish(progress), strict=True)
            ]


def family_row(family: Family, resolution: Resolution) -> FamilyRow:
    """A family as reports show it."""
    refusal = first_refusal(resolution)
    outcome = "refused" if refusal is not None else "ok"
    why = refusal_text(refusal) if refusal is not None else ""
    if refusal is None and (resolution.outcome is Outcome.UNKNOWN or resolution.late is None):
        outcome = "unknown"
        why = resolution.reason or "; ".join(resolution.notes)
    return FamilyRow(
        family=family.name,
        architecture=family.architecture,
        quantization=family.quantization or "BF16",
        capability=resolution.launch.capability,
        outcome=outcome,
        values=shown_values(resolution),
        why=why,
        place=refusal.place if refusal is not None else None,
        group=family.group,
    )


def first_refusal(resolution: Resolution) -> Refusal | None:
    """The refusal of a launch, at start or once loading begins."""
    if resolution.rejection is not None:
        return resolution.rejection
    return resolution.late[0] if resolution.late else None


def refusal_text(refusal: Refusal) -> str:
    """A refusal in one line."""
    when = "" if refusal.stage == "resolution" else "after loading starts: "
    return f"{when}{refusal.type}: {' '.join(refusal.message.split())[:300]}"


def shown_values(resolution: Resolution) -> tuple[tuple[str, str], ...]:
    """The values worth showing: what the run time holds wins over the record."""
    values = {value.name: value for value in resolution.options}
    values.update({value.name: value for value in resolution.runtime})
    shown = []
    for name in SHOWN:
        value = values.get(name)
        if value is not None and not (value.decided and value.value is None):
            text = str(value.value) if value.decided else f"unknown: {value.reason}"
            shown.append((name, text))
    return tuple(shown)
