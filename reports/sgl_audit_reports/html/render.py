"""Templates, the security policy, and the pages."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from sgl_audit.model.evidence import Evidence, JoinedRun
from sgl_audit.model.history import History
from sgl_audit.model.report import Audit
from sgl_audit.model.resolution import Resolution
from sgl_audit.model.review import Review
from sgl_audit.model.source import SourceInfo
from sgl_audit.model.verdict import Recommendation

if TYPE_CHECKING:
    from jinja2 import Environment


def audit_html(audit: Audit, runs: Sequence[JoinedRun] = ()) -> str:
    """The audit as one HTML file that loads nothing, with the runs laid beside it."""
    from sgl_audit_reports.html.audit import audit_page

    return _render("audit.html.j2", page=audit_page(audit), runs=runs)


def resolution_html(
    resolutions: Sequence[Resolution],
    source: SourceInfo,
    tool_version: str,
    runs: Sequence[JoinedRun] = (),
) -> str:
    """One launch on one capability or several, as one HTML file that loads nothing."""
    from sgl_audit_reports.html.resolution import resolution_page

    page = resolution_page(resolutions, source, tool_version)
    return _render("resolution.html.j2", page=page, runs=runs)


def families_html(audit: Audit) -> str:
    """The model families of an audit as one HTML file that loads nothing."""
    from sgl_audit_reports.html.families import families_page

    return _render("families.html.j2", page=families_page(audit))


def recommendation_html(
    found: Sequence[Recommendation],
    source: SourceInfo,
    tool_version: str,
    runs: Sequence[JoinedRun] = (),
) -> str:
    """The flags to add to one launch, as one HTML file that loads nothing."""
    from sgl_audit_reports.html.recommendation import recommendation_page

    page = recommendation_page(found, source, tool_version)
    return _render("recommendation.html.j2", page=page, runs=runs)


def review_html(review: Review) -> str:
    """The review of an upgrade as one HTML file that loads nothing."""
    from sgl_audit_reports.html.review import review_page

    return _render("review.html.j2", page=review_page(review))


def history_html(history: History) -> str:
    """The history of an option as one HTML file that loads nothing: a timeline."""
    from sgl_audit_reports.html.history import history_page

    return _render("history.html.j2", page=history_page(history))


def evidence_html(found: Sequence[Evidence], tool_version: str) -> str:
    """Runs of the actual server, as one HTML file that loads nothing."""
    from sgl_audit_reports.html.evidence import evidence_page

    return _render("evidence.html.j2", page=evidence_page(found, tool_version))


def environment() -> Environment:
    """The Jinja2 environment: everything is escaped, a missing value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("sgl_audit_reports.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def asset(name: str) -> str:
    """One of our own files, as it stands in the page."""
    return files("sgl_audit_reports.html").joinpath("assets", name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """A content security policy that admits exactly this style and this script."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _render(template: str, *, page: object, runs: Sequence[JoinedRun] = ()) -> str:
    from sgl_audit_reports.html.evidence import run_items

    style, script = asset("style.css"), asset("script.js")
    return (
        environment()
        .get_template(template)
        .render(
            page=page,
            runs=run_items((item.evidence, item.foreign) for item in runs),
            policy=policy(style, script),
            # Our own files, not escaped, or they would no longer be what was hashed.
            style=Markup(style),
            script=Markup(script),
        )
        + "\n"
    )
