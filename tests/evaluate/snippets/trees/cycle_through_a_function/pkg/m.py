from pkg.a import first
out = first()
