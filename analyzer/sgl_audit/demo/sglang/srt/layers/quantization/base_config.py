class QuantizationConfig:
    """What a quantization method says of itself."""

    name = ""
    min_capability = 75

    @classmethod
    def get_name(cls) -> str:
        return cls.name

    @classmethod
    def get_min_capability(cls) -> int:
        return cls.min_capability

    @classmethod
    def override_quantization_method(cls, hf_quant_cfg, user_quant):
        return None
