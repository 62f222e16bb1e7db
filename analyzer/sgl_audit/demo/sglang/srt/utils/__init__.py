from .common import *  # noqa: F403
