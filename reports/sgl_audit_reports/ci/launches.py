"""Checked launches as annotations and as JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from sgl_audit.model.checks import CheckReport, LaunchCheck, Standing
from sgl_audit_reports.ci.commands import command
from sgl_audit_reports.ci.junit import set_totals, skip
from sgl_audit_reports.ci.xmltext import xml_text
from sgl_audit_reports.common.launches import name_of, said_of, standing_counts, where_of
from sgl_audit_reports.common.names import source_heading
from sgl_audit_reports.common.text import unique

_COMMAND = {Standing.REFUSED: "error", Standing.UNKNOWN: "warning"}


def checks_to_annotations(report: CheckReport) -> str:
    """A command for each launch that is refused or unknown, at the line where it is written."""
    lines = [_annotation(item, report) for item in report.checks if item.standing in _COMMAND]
    # GitHub shows ten of each kind.
    lines.sort(key=lambda line: not line.startswith("::error"))
    return "\n".join([*lines, f"sgl-audit: {standing_counts(report)}"]) + "\n"


def _annotation(check: LaunchCheck, report: CheckReport) -> str:
    version = report.source.distribution.version or ""
    properties = {"file": check.file}
    if check.line is not None:
        properties["line"] = str(check.line)
    named = f" {name_of(check)}" if name_of(check) else ""
    properties["title"] = (
        f"launch{named} {check.standing.value} on {check.capability} "
        f"by {report.source.package} {version}"
    )
    return command(_COMMAND[check.standing], properties, *said_of(check))


def checks_to_junit(report: CheckReport) -> str:
    """A suite for each capability, a test for each launch; unknown is skipped."""
    root = Xml.Element("testsuites", name=xml_text(f"sgl-audit {source_heading(report.source)}"))
    for capability in unique(item.capability for item in report.checks):
        suite = Xml.SubElement(root, "testsuite", name=xml_text(capability))
        suite.extend(_case(item) for item in report.checks if item.capability == capability)
        set_totals(suite, [suite])
    set_totals(root, list(root))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, "unicode") + "\n"


def _case(check: LaunchCheck) -> Xml.Element:
    case = Xml.Element(
        "testcase",
        classname=xml_text(f"sgl-audit.{check.capability}.launches"),
        name=xml_text(f"{where_of(check)} {name_of(check)}".strip()),
        file=xml_text(check.file),
    )
    if check.line is not None:
        case.set("line", str(check.line))
    said = said_of(check)
    if check.standing is Standing.REFUSED:
        kind = xml_text(check.refusals[0].type if check.refusals else "refused")
        failure = Xml.SubElement(case, "failure", type=kind, message=xml_text("; ".join(said)))
        failure.text = "\n".join(xml_text(line) for line in said)
    elif check.standing is Standing.UNKNOWN:
        skip(case, "; ".join(said))
    return case
