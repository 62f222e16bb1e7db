from pkg.space import inner
import pkg.space.inner as same
out = inner.x, same.x
