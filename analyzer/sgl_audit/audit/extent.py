"""How far an audit goes."""

# Launches an audit resolves at most: with many capabilities each gets fewer families.
LAUNCH_BUDGET = 64
# Capabilities of one audit whose launches are followed into the layers and judged.
JUDGED = 2
