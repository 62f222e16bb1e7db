"""The values of SGLang's own `--config FILE`, as plain data.

How they become arguments is decided by the analysed tree's own ConfigArgumentMerger; here the file
is only read, as `yaml.safe_load` there would.
"""

from __future__ import annotations

from pathlib import Path

from sgl_audit.errors import UsageError
from sgl_audit.launch.structured import load_json, load_yaml
from sgl_audit.launch.text import LAUNCH_FILE_LIMIT, decode, read_bounded, shown, shown_path


def read_config_values(path: Path) -> dict[str, object]:
    """The mapping that the file holds; empty for an empty file.

    Raises:
        UsageError: the file cannot be read, is larger than 8 MB, is neither YAML nor JSON, is
            nested too deep, or holds no mapping with text keys.
    """
    origin = shown_path(path)
    text = decode(read_bounded(path, LAUNCH_FILE_LIMIT, "config file"), origin)
    load = load_json if path.suffix.lower() == ".json" else load_yaml
    values = load(text, origin)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UsageError(
            f"{origin} holds {shown(type(values).__name__)} where SGLang's --config takes a "
            f"mapping; write `flag-name: value` lines."
        )
    for key in values:
        if not isinstance(key, str):
            raise UsageError(f"{origin} has the key {shown(key)}, not a text; put it in quotes.")
    return values
