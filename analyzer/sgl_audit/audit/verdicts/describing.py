"""What advisories ask of a launch: its model and the values it ends up with."""

from __future__ import annotations

from sgl_audit.audit.places import bytes_of, parsed_file
from sgl_audit.errors import SglAuditError
from sgl_audit.evaluate.resolver import model_argument
from sgl_audit.launch import describe_quantization, find_model, load_config
from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.model.source import SourceTree

HF_QUANT = "hf_quant_config.json"
# Capabilities that only come with an Arm host.
ARM = ("sm87", "sm110", "sm121")
NAMED = (
    "kv_cache_dtype",
    "attention_backend",
    "prefill_attention_backend",
    "decode_attention_backend",
)


def launch_facts(resolution: Resolution, tree: SourceTree) -> dict[str, str | None]:
    """Facts of a launch by the names that advisories use; a missing one is not known."""
    facts = model_facts(resolution.launch)
    facts |= code_facts(tree, facts.get("architecture"))
    card = resolution.launch.card or ""
    arm = resolution.launch.capability in ARM or card.startswith("gb")
    facts["machine"] = "aarch64" if arm else "x86_64"
    values = values_of(resolution)
    for name in NAMED:
        if name in values:
            facts[name] = values[name]
    both = values.get("attention_backend")
    for name in NAMED[2:]:
        if facts.get(name) in (None, "none"):
            facts[name] = both
    if "ep_size" in values:
        facts["expert_parallel"] = "true" if values["ep_size"] not in ("1", "none") else "false"
    facts["nodes"] = values.get("nnodes", "1")
    # Where no card is named, the one that stands for the capability is assumed.
    facts["card"] = card or BY_NAME[resolution.launch.capability].cards[0]
    for item in resolution.assumptions:
        if item.name == "driver" and item.value[:1].isdigit():
            facts["driver"] = item.value
    return facts


def code_facts(tree: SourceTree, architecture: str | None) -> dict[str, str | None]:
    """What the file of the model's class says of it."""
    if architecture is None:
        return {}
    line = f"class {architecture}(".encode()
    prefix = f"{tree.info.package}/srt/models/"
    for path in tree.files():
        if path.startswith(prefix) and line in (data := bytes_of(tree, path)):
            if parsed_file(tree, path) is None:
                # What a damaged file does not say may stand in the part that is gone.
                return {}
            return {
                "attention_sinks": str(b"sinks=" in data).lower(),
                "apply_router_weight_on_input": str(
                    b"apply_router_weight_on_input=True" in data
                ).lower(),
            }
    return {}


def values_of(resolution: Resolution) -> dict[str, str]:
    """Decided values as text; what the run time holds wins over the record."""
    found: dict[str, str] = {}
    for value in (*resolution.options, *resolution.runtime):
        if value.decided:
            shown = value.value
            if isinstance(shown, bool):
                found[value.name] = str(shown).lower()
            else:
                found[value.name] = "none" if shown is None else str(shown)
    return found


def model_facts(launch: Launch) -> dict[str, str | None]:
    """Architecture and quantization of the checkpoint, from its files."""
    folder = launch.model_config or model_argument(list(launch.argv))
    facts: dict[str, str | None] = {}
    try:
        files = find_model(folder) if folder else None
        config = load_config(files) if files else None
        hf_quant = load_config(files, HF_QUANT) if files and files.has(HF_QUANT) else None
    except SglAuditError:
        return facts
    if config is None:
        return facts
    named = config.get("architectures")
    if isinstance(named, list) and named:
        facts["architecture"] = str(named[0])
    inner = config.get("text_config")
    latent = [c for c in (config, inner) if isinstance(c, dict) and c.get("kv_lora_rank")]
    facts["attention"] = "MLA" if latent else "GQA"
    text = describe_quantization(config, hf_quant)
    facts["quantization"] = (text or "none").removeprefix("compressed-tensors ")
    declared = config.get("quantization_config")
    if isinstance(declared, dict):
        facts["block_scaled"] = "true" if declared.get("weight_block_size") else "false"
    return facts
