"""Stand-ins for the attention kernels themselves."""


class AttentionBackend:
    def __init__(self, name, runner):
        self.name = name
        self.runner = runner


class GDNAttnBackend(AttentionBackend):
    def __init__(self, runner):
        super().__init__("gdn", runner)


class HybridLinearAttnBackend:
    def __init__(self, full_attn_backend, linear_attn_backend, full_attn_layers):
        self.full_attn_backend = full_attn_backend
        self.linear_attn_backend = linear_attn_backend
        self.full_attn_layers = full_attn_layers
