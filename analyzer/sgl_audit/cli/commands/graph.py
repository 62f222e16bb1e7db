"""placeholder"""

import click


@click.command("graph")
def command() -> None:
    """todo"""
