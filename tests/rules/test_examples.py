"""The examples on each rule are its tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from sgl_audit.model.report import Finding, RuleDoc, RuleExample
from sgl_audit.rules import all_rules, rule_doc

FindIn = Callable[[Mapping[str, str], str], tuple[Finding, ...]]
SECTIONS = ("What it does", "Why it is bad", "Known limits", "What to do instead", "Seen in")
EXAMPLES = [
    pytest.param(doc.id, example, id=f"{doc.id}-{'valid' if example.valid else 'invalid'}-{number}")
    for doc in all_rules()
    for number, example in enumerate(doc.examples)
]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_example(rule: str, example: RuleExample, find_in: FindIn) -> None:
    found = find_in(dict(example.files), rule)
    assert bool(found) is not example.valid, found
    assert all(item.rule == rule and item.capabilities for item in found)
    assert all(item.chain and item.fingerprint and item.message for item in found)


@pytest.mark.parametrize("doc", all_rules(), ids=lambda doc: doc.id)
def test_documentation(doc: RuleDoc) -> None:
    assert all(f"*{section}*" in doc.description for section in SECTIONS)
    assert {example.valid for example in doc.examples} == {True, False}
    assert rule_doc(doc.id) == doc


def test_ids_are_in_order_and_once() -> None:
    ids = [doc.id for doc in all_rules()]
    assert ids == sorted(set(ids))
