"""Where the program starts: runs the command, and turns every ending into an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

import click

from sgl_audit.cli.root import root
from sgl_audit.cli.signals import ending_signals
from sgl_audit.cli.stderr import say
from sgl_audit.cli.streams import is_full, open_missing, unwritable
from sgl_audit.errors import EXIT_CLEAN, EXIT_INCOMPLETE, EXIT_USAGE, SglAuditError

INTERRUPTED = 130
ENDED_BY_SIGNAL = 128
DEBUG_VARIABLE = "SGL_AUDIT_DEBUG"
PREFIX = "SGL_AUDIT"


def run(arguments: Sequence[str] | None = None, program: str = "sgl-audit") -> int:
    """Run the command line; gives the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    open_missing()
    with ending_signals() as ended:
        code = _run(given, program)
    # What is left in memory need not be searched for garbage on the way out: it takes seconds.
    gc.freeze()
    if ended:
        return ENDED_BY_SIGNAL + ended[0]
    reason = unwritable(sys.stdout)
    return code if reason is None else _undelivered(reason)


def _run(given: list[str], program: str) -> int:
    try:
        result = root.main(given, program, standalone_mode=False, auto_envvar_prefix=PREFIX)
    except SglAuditError as error:
        say(_sentence(error))
        return error.exit_code
    except click.ClickException as error:
        say(_usage_sentence(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__context__, EOFError):
            # click takes it for the end of what a person types, and nothing here asks anybody.
            return _internal(error.__context__)
        say("stopped before the end.")
        return INTERRUPTED
    except Exception as error:
        return _internal(error) if not is_full(error) else _undelivered(str(error.strerror))
    return result if isinstance(result, int) else EXIT_CLEAN


def _undelivered(reason: str) -> int:
    """Say that the report is lost; nothing of it is left to be complained of at exit."""
    from sgl_audit_reports.output import silence_stdout

    say(f"the output cannot be written: {reason}; -o FILE writes a report to a file.")
    silence_stdout()
    return EXIT_USAGE


def _sentence(error: SglAuditError) -> str:
    return _ended(" ".join(str(error).split()))


def _usage_sentence(error: click.ClickException) -> str:
    """What is wrong with the command line, and where its help is: one line, not click's four."""
    text = _ended(" ".join(error.format_message().split()))
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{text} See {context.command_path} --help." if context is not None else text


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _internal(error: Exception) -> int:
    """An exception that is nobody's input error: one sentence, the traceback only on request."""
    if os.environ.get(DEBUG_VARIABLE) == "1":
        import traceback

        traceback.print_exception(error)
    what = " ".join(str(error).split())[:200]
    say(
        f"internal error ({type(error).__name__}: {what}); please report it with the command that "
        f"you ran ({DEBUG_VARIABLE}=1 prints the traceback)."
    )
    return EXIT_INCOMPLETE
