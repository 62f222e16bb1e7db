from sglang.srt.configs.mini_gdn import MiniGdnConfig

__all__ = ["MiniGdnConfig"]
