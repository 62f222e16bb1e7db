"""Following a resolved launch into the layers, down to the calls into kernel libraries.

The code of the layers is interpreted with weights and activations unknown. A statement that cannot
be evaluated leaves unknowns behind and is noted; the ones after it still run.
"""
