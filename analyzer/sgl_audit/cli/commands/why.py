"""placeholder"""

import click


@click.command("why")
def command() -> None:
    """todo"""
