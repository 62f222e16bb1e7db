import sys
if sys.version_info >= (3, 8):
    new = True
else:
    new = False
for i in range(3):
    last = i
with open(__file__) if False else __import__('contextlib').nullcontext():
    inside = 1
x = [i * last for i in range(3)]
assert x
del i
out = new, last, inside, x, 'i' in globals()
