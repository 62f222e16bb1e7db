"""The audit as JUnit XML, which GitLab, Jenkins and others show as tests.

A suite for each capability; in it a test for each option, each finding without one, and each
model family. A test fails where a finding counts that is as bad as asked, and is skipped where
nothing can be said: unknown is neither passed nor failed. Runs of the actual server are
properties of the options that they exercised, and a suite of their own; none of them fails, as they
change no exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as Xml

from sgl_audit.model.evidence import Agreement, JoinedRun
from sgl_audit.model.report import Audit, FamilyRow, Finding, Severity
from sgl_audit_reports.ci.observed import observed_text, of_option
from sgl_audit_reports.ci.xmltext import xml_text
from sgl_audit_reports.common.evidence import counts, outcome, run_name, where
from sgl_audit_reports.common.messages import (
    counting_findings,
    headline,
    holds_on,
    path_of,
    remedy_line,
)
from sgl_audit_reports.common.names import SEVERITIES, source_heading
from sgl_audit_reports.common.text import unique

_NEVER = "never"


def audit_to_junit(
    audit: Audit,
    fail_on: str = Severity.ERROR.value,
    base: str = "",
    runs: Sequence[JoinedRun] = (),
) -> str:
    """JUnit XML.

    Args:
        fail_on: the severity from which a finding is a failure, or "never".
        base: see `path_of`.
        runs: runs of the actual server beside the audit.
    """
    root = Xml.Element("testsuites", name=xml_text(f"sgl-audit {source_heading(audit.source)}"))
    for capability in audit.capabilities:
        suite = _Suite(audit, capability, _bad(fail_on), base, runs)
        root.append(suite.element())
    if runs:
        root.append(_runs(runs))
    set_totals(root, list(root))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, "unicode") + "\n"


def _bad(fail_on: str) -> frozenset[Severity]:
    if fail_on == _NEVER:
        return frozenset()
    return frozenset(SEVERITIES[: SEVERITIES.index(Severity(fail_on)) + 1])


class _Suite:
    def __init__(
        self,
        audit: Audit,
        capability: str,
        bad: frozenset[Severity],
        base: str,
        runs: Sequence[JoinedRun],
    ) -> None:
        self._runs = runs
        self._audit = audit
        self._capability = capability
        self._bad = bad
        self._base = base
        self._findings = [
            item.finding
            for item in counting_findings(audit)
            if capability in item.finding.capabilities
        ]

    def element(self) -> Xml.Element:
        """The suite."""
        suite = Xml.Element("testsuite", name=xml_text(self._capability))
        suite.extend(self._options())
        suite.extend(self._loose())
        suite.extend(self._family(row) for row in self._rows())
        set_totals(suite, [suite])
        return suite

    def _rows(self) -> Iterator[FamilyRow]:
        return (row for row in self._audit.families if row.capability == self._capability)

    def _options(self) -> Iterator[Xml.Element]:
        listed = [item.option for item in self._audit.behaviours]
        found = [item.option for item in self._findings if item.option is not None]
        for option in unique([*listed, *found]):
            case = self._case("options", option)
            own = [item for item in self._findings if item.option == option]
            self._fill(case, own)
            becomes = [
                item.becomes
                for item in self._audit.behaviours
                if (item.option, item.capability) == (option, self._capability)
            ]
            if case.find("failure") is None and not any(becomes):
                skip(case, "what it becomes here is unknown")
            self._observe(case, option)
            yield case

    def _observe(self, case: Xml.Element, option: str) -> None:
        found = [observed_text(*one) for one in of_option(self._runs, option, self._capability)]
        if found:
            # The order of the elements is fixed: properties stand first.
            properties = Xml.Element("properties")
            for said in found:
                Xml.SubElement(properties, "property", name="evidence", value=xml_text(said))
            case.insert(0, properties)

    def _loose(self) -> Iterator[Xml.Element]:
        for item in self._findings:
            if item.option is None:
                case = self._case("findings", f"{item.rule} {item.place}")
                self._fill(case, [item])
                yield case

    def _family(self, row: FamilyRow) -> Xml.Element:
        case = self._case("families", row.family)
        own = [item for item in self._findings if item.fingerprint in row.findings]
        self._fill(case, own)
        if case.find("failure") is None and row.outcome != "ok":
            skip(case, f"{row.outcome} with nothing set: {row.why}")
        return case

    def _case(self, kind: str, name: str) -> Xml.Element:
        classname = f"sgl-audit.{self._capability}.{kind}"
        return Xml.Element("testcase", classname=xml_text(classname), name=xml_text(name))

    def _fill(self, case: Xml.Element, findings: Sequence[Finding]) -> None:
        bad = [item for item in findings if item.severity in self._bad]
        quiet = [item for item in findings if item.severity not in self._bad]
        if bad:
            worst = bad[0]
            case.set("file", xml_text(path_of(worst.place, self._base)))
            case.set("line", str(worst.place.line))
            said = xml_text("; ".join(filter(None, (headline(worst), remedy_line(worst)))))
            # One for a test: that is all that some readers show.
            failure = Xml.SubElement(case, "failure", type=xml_text(worst.rule), message=said)
            failure.text = self._texts(bad)
        if quiet:
            Xml.SubElement(case, "system-out").text = self._texts(quiet)

    def _texts(self, findings: Sequence[Finding]) -> str:
        return "\n\n".join(self._text(item) for item in findings)

    def _text(self, item: Finding) -> str:
        place = path_of(item.place, self._base)
        lines = [
            f"{item.severity.value} {headline(item)}",
            f"{place}:{item.place.line} {holds_on(item, self._audit)}",
            item.message,
            *(f"{n}. {link.text} {link.place or ''}" for n, link in enumerate(item.chain, 1)),
            remedy_line(item),
        ]
        return "\n".join(xml_text(line).rstrip() for line in lines if line)


def _runs(runs: Sequence[JoinedRun]) -> Xml.Element:
    """A test for each run; one that says nothing here is skipped."""
    suite = Xml.Element("testsuite", name="runs of the server")
    for item in runs:
        run = item.evidence
        name = xml_text(f"{run_name(run)} ({run.id})")
        case = Xml.SubElement(suite, "testcase", classname="sgl-audit.runs", name=name)
        said = [f"{outcome(run)}: {run.summary}", where(run), counts(run.compared)]
        said += [
            observed_text(run, one)
            for one in run.compared
            if one.agreement is Agreement.CONTRADICTED
        ]
        Xml.SubElement(case, "system-out").text = "\n".join(map(xml_text, said))
        if item.foreign or not run.outcome.final:
            skip(case, item.foreign or f"the run is {run.outcome.value}")
    set_totals(suite, [suite])
    return suite


def skip(case: Xml.Element, reason: str) -> None:
    """Mark a test of which nothing can be said."""
    # The order of the elements is fixed: what is printed stands last.
    case.insert(0, Xml.Element("skipped", message=xml_text(reason)))


def set_totals(element: Xml.Element, suites: Iterable[Xml.Element]) -> None:
    """Count the tests of the suites on an element."""
    cases = [case for suite in suites for case in suite.iter("testcase")]
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
