"""The first thing that loading does: is this quantization possible here at all?"""

from sglang.srt.layers.quantization import get_quantization_config
from sglang.srt.utils import get_device_capability


def get_quant_config(model_config, load_config=None, packed_modules_mapping=None):
    return get_quantization_config(model_config.quantization)()


def _get_quantization_config(model_config, load_config=None, packed_modules_mapping=None):
    if model_config.quantization is None:
        return None
    quant_config = get_quant_config(model_config, load_config, packed_modules_mapping)
    major, minor = get_device_capability()
    needed = quant_config.get_min_capability()
    if major is not None and 10 * major + minor < needed:
        raise ValueError(
            f"Quantization {model_config.quantization} needs capability {needed} or newer."
        )
    return quant_config
