"""placeholder"""

import click


@click.command("show")
def command() -> None:
    """todo"""
