"""Static source analyzer for SGLang's backend configuration."""

__version__ = "0.1.0"
