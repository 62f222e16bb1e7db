"""What an expression is on each capability, read from the source by a small interpreter.

It knows the few calls by which Python asks about the machine and follows names, functions and
attributes from there. Everything else is UNKNOWN, which no operation turns into an answer.
"""
