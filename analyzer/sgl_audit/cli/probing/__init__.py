"""`sgl-audit probe` and `verify`: what has to be known before a server is started, and the show."""
