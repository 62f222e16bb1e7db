"""Verdicts on the values of a resolved launch, from the layers' own calls and what is known of
the libraries they lead to."""
