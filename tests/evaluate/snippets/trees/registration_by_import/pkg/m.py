from pkg.plugins import registry
out = sorted(registry)
