from pkg import a, b
out = a.call(), b.call()
