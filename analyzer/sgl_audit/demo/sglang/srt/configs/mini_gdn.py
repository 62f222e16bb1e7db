from transformers import PretrainedConfig


class MiniGdnConfig(PretrainedConfig):
    """A mixture of experts that mixes gated delta net layers with full attention layers."""

    model_type = "mini_gdn_moe"

    def __init__(self, num_hidden_layers=8, full_attention_interval=4, layer_types=None, **kwargs):
        super().__init__(**kwargs)
        self.num_hidden_layers = num_hidden_layers
        self.full_attention_interval = full_attention_interval
        self.layer_types = layer_types
        if self.layer_types is None:
            self.layer_types = [
                "linear_attention" if (index + 1) % full_attention_interval else "full_attention"
                for index in range(num_hidden_layers)
            ]

    @property
    def full_attention_layer_ids(self):
        return [i for i, kind in enumerate(self.layer_types) if kind == "full_attention"]
