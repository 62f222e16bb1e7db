"""placeholder"""

import click


@click.command("kernels")
def command() -> None:
    """todo"""
