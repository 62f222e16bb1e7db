"""From facts and resolutions to an audit."""
