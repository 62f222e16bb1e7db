"""Reports: pure renderings of `sgl_audit.model` values. Nothing here decides anything."""
