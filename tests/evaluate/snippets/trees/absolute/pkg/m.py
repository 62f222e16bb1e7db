import pkg.sub.deep
import pkg.sub.deep as d
import pkg.a as a, os.path as p
out = pkg.sub.deep.x, d.x, a.y, pkg.a.y, p.join('a', 'b')
