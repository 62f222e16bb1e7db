"""Resolve launches: what each ends up with, and why, without running SGLang."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sgl_audit.errors import SglAuditError
from sgl_audit.evaluate import memo
from sgl_audit.evaluate.entry import SCHEDULER, Entry, Follow, Reached
from sgl_audit.evaluate.late import late_refusals
from sgl_audit.evaluate.machine import Machine
from sgl_audit.evaluate.plain import NotPlainError, plain
from sgl_audit.evaluate.program import Program
from sgl_audit.evaluate.relevance import is_relevant
from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.trace import Tracer, step_text
from sgl_audit.evaluate.values import Cases, Raised, Undecidable, Unknown, Value
from sgl_audit.evaluate.world import World, make_world
from sgl_audit.memory import uncollected
from sgl_audit.model.facts import JsonValue
from sgl_audit.model.resolution import (
    Assumption,
    Case,
    Launch,
    Outcome,
    Refusal,
    Resolution,
    ResolvedValue,
    Step,
)
from sgl_audit.model.source import Place, SourceTree

# Exceptions that are as likely a gap of this interpreter as a fault of the program.
DOUBTFUL = frozenset(
    "TypeError AttributeError NameError KeyError IndexError StopIteration RecursionError".split()
)
# Class facts are complete after a few launches; looking longer costs more than it gives.
KEPT_LAUNCHES = 8
# Files of settings that a launch may name; SGLang takes them relative to where it is started.
CONFIG_SUFFIXES = (".yaml", ".yml", ".json")


class Resolver:
    """Resolves launches of one tree; modules are loaded once per capability and assumptions.

    Attributes:
        program: the parsed tree with the libraries read with it.
    """

    def __init__(self, tree: SourceTree, libraries: Iterable[SourceTree] = ()) -> None:
        self.tree = tree
        self.program = Program(tree, *libraries)
        self.machine = Machine()
        self._key: tuple[Any, ...] | None = None
        self._prepared: Prepared | None = None

    def resolve(
        self,
        launch: Launch,
        *,
        trace: bool = False,
        every: bool = False,
        follow: Follow = Follow.NOTHING,
    ) -> Resolution:
        """Resolve one launch.

        Args:
            trace: note what set each value.
            follow: how far into the layers of the model.
            every: give every field of the record, not only those that concern backends.
        """
        with uncollected():
            prepared = self.prepare(launch)
            return prepared.resolve(launch, trace=trace, every=every, follow=follow)

    def prepare(self, launch: Launch) -> Prepared:
        """The loaded modules for a launch's capability, assumptions and environment."""
        key = (launch.capability, launch.assume, launch.environment, launch.card)
        if self._key != key or self._prepared is None:
            world = make_world(
                launch.capability,
                self.tree.info.distribution,
                launch.assume,
                launch.environment,
                launch.card,
            )
            self._prepared = Prepared(self.program, world, self.machine)
            self._key = key
        return self._prepared

    def resolve_all(self, launches: Iterable[Launch]) -> Iterator[Resolution]:
        """Resolve launches in order."""
        for launch in launches:
            yield self.resolve(launch)


class Prepared:
    """Loaded modules, ready for launches."""

    def __init__(self, program: Program, world: World, machine: Machine) -> None:
        self.session = Session(program, world, machine)
        self.world = world
        self.entry = Entry(self.session)
        self._broken: str | None = None
        self.loaded = False
        self._refused: set[str] = set()
        self._launches = 0

    def load(self) -> None:
        """Load the entry module and remember the parser."""
        self.loaded = True
        try:
            owner = self.session.get(f"{self.entry.root}.srt.server_args", "ServerArgs")
            memo.remember_parser(self.session, owner)
            self.load_loaders()
        except Raised as raised:
            text = self.session.machine.as_text(raised.value)
            self._broken = f"{raised.value.cls.name} while loading: {text}"
        except Undecidable as stop:
            self._broken = stop.reason

    def load_loaders(self) -> None:
        """Load what loads model configurations, so that an unknown model can be given there."""
        for name in dict.fromkeys(module for module, _, _ in memo.LOADERS):
            if self.session.program.file_of(name) is not None:
                memo.load_early(self.session, name)
        memo.remember_loading(self.session)

    def warm(self) -> bool:
        """Load what launches loaded late, where that has no effect; whether anything was loaded."""
        names = [n for n in dict.fromkeys(self.world.late_modules) if n not in self._refused]
        self.world.late_modules.clear()
        for name in names:
            if not memo.load_early(self.session, name):
                self._refused.add(name)
        if names:
            memo.remember_loading(self.session)
        return not self._refused.issuperset(names)

    def resolve(
        self, launch: Launch, *, trace: bool, every: bool, follow: Follow = Follow.NOTHING
    ) -> Resolution:
        """Resolve one launch; nothing of it stays."""
        if not self.loaded:
            self.load()
        if self._broken is not None:
            return unknown(launch, self._broken, self.world)
        argv = allow_models(self.session, launch)
        answer = self._once(launch, argv, trace, every, follow)
        # A module that one of two ways loads keeps them apart; loaded before both, it does not.
        while answer.outcome is Outcome.UNKNOWN and self.warm():
            answer = self._once(launch, argv, trace, every, follow)
        self.warm()
        if self._launches < KEPT_LAUNCHES:
            memo.keep_class_facts(self.session)
        self._launches += 1
        return answer

    def _once(
        self, launch: Launch, argv: list[str], trace: bool, every: bool, follow: Follow
    ) -> Resolution:
        """One walk through the program; what it wrote is undone."""
        with self.session.launch() as machine:
            tracer = Tracer() if trace else None
            try:
                machine.tracer = tracer
                return self._complete(self._run(launch, argv, tracer, every, follow))
            except SglAuditError:
                raise
            except Raised as raised:
                return unknown(launch, self._said(raised), self.world)
            except Exception as error:
                reason = f"the interpreter failed: {type(error).__name__}: {error}"
                return unknown(launch, reason, self.world)
            finally:
                machine.tracer = None

    def _complete(self, answer: Resolution) -> Resolution:
        """The answer, which is not known where a server meets a part of the tree that is broken.

        A file that does not parse, or a module of the tree that is not there, stops a server.
        """
        if answer.outcome is not Outcome.OK:
            return answer
        imports = self.session.imports
        unread = (self.session.program.broken(file) for file in imports.loaded_files)
        reasons = [*(reason for reason in unread if reason), *imports.absent.values()]
        if not self.entry.has(SCHEDULER):
            reasons.append(f"there is no {self.entry.root}.{SCHEDULER}")
        reason = next(iter(reasons), None)
        if reason is None:
            return answer
        return replace(answer, outcome=Outcome.UNKNOWN, reason=f"the tree is incomplete: {reason}")

    def _said(self, raised: Raised) -> str:
        """An exception that nothing expected, with its place."""
        text = self.session.machine.as_text(raised.value)
        said = text.name if isinstance(text, Unknown) else str(text)
        where = f" at {raised.place[0]}:{raised.place[1]}" if raised.place else ""
        return f"{raised.value.cls.name}{where}: {said}"

    def _run(
        self,
        launch: Launch,
        argv: list[str],
        tracer: Tracer | None,
        every: bool,
        follow: Follow,
    ) -> Resolution:
        if tracer is not None:
            tracer.watch_fields(self.entry)
        try:
            record = self.entry.resolve(argv)
        except Raised as raised:
            doubt = self._doubt(raised)
            if doubt is not None:
                return unknown(launch, doubt, self.world, self._possible())
            return self._rejected(launch, raised)
        except Undecidable as stop:
            where = f" ({stop.where[0]}:{stop.where[1]})" if stop.where else ""
            return unknown(launch, stop.reason + where, self.world, self._possible())
        steps = self._steps(launch, tracer)
        options = self._options(record, every, steps)
        reported = self._reported(record, options) if tracer is not None else ()
        reached = self.entry.start_scheduler(record)
        runtime = [
            self._value(name, value, steps.get(name, ()))
            for name, value in self.entry.runtime_values(reached).items()
        ]
        late = late_refusals(self.entry, reached, follow)
        return Resolution(
            launch,
            Outcome.OK,
            options=tuple(options),
            runtime=tuple(runtime),
            possible=self._possible(),
            late=late,
            assumptions=self._assumptions(),
            notes=_notes(reached),
            paths=reached.paths,
            reported=reported,
        )

    def _steps(self, launch: Launch, tracer: Tracer | None) -> dict[str, Any]:
        """What set each field: the flag or the default, then every decision."""
        if tracer is None:
            return {}
        machine = self.session.machine
        decided = tracer.steps(machine)
        given = memo.flags_given(self.session, list(launch.argv))
        steps: dict[str, Any] = {}
        for field in tracer.fields:
            name = field.name
            first = memo.first_step(self.session, field, given, tracer.initial)
            steps[name] = (*((first,) if first is not None else ()), *decided.get(name, ()))
        return steps

    def _options(self, record: Value, every: bool, steps: dict[str, Any]) -> list[ResolvedValue]:
        read = self.entry.reader(record)
        listed = []
        for name in self.entry.fields(record):
            if name.startswith("_") or not (every or is_relevant(name)):
                continue
            try:
                value = read(name)
            except Raised as raised:
                value = Unknown(name, f"reading it raises {raised.value.cls.name}")
            except Undecidable as stop:
                value = Unknown(name, stop.reason)
            listed.append(self._value(name, value, self._to_the_end(value, steps.get(name, ()))))
        return listed

    def _reported(self, record: Value, options: list[ResolvedValue]) -> tuple[ResolvedValue, ...]:
        """What a server gives out of its options otherwise than it holds them."""
        held = {value.name: value for value in options}
        said = self.entry.reported(record).items()
        values = (self._value(name, value, ()) for name, value in said if name in held)
        return tuple(value for value in values if value.value != held[value.name].value)

    def _to_the_end(self, value: Value, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The steps, and one more where the program reads another value than was stored."""
        if not steps or steps[-1].what == "flag" or isinstance(value, Unknown):
            return steps
        text = step_text(self.session.machine, value)
        return steps if steps[-1].value == text else (*steps, Step(text, None, "when it is read"))

    def _value(self, name: str, value: Value, steps: Any) -> ResolvedValue:
        value = self.session.machine.simplify(value)
        if isinstance(value, Cases):
            cases = tuple(
                Case(self.guard_text(cube), text_or_name(item)) for cube, item in value.cases
            )
            return ResolvedValue(name, False, None, cases, value.reason, tuple(steps))
        try:
            return ResolvedValue(name, True, plain(value), steps=tuple(steps))
        except NotPlainError as reason:
            return ResolvedValue(name, False, None, (), str(reason), tuple(steps))

    def guard_text(self, cube: Any) -> str:
        """How a condition reads."""
        machine = self.session.machine
        parts = [
            machine.text_of(key) if truth else f"not ({machine.text_of(key)})"
            for key, truth in cube
        ]
        return " and ".join(parts) if parts else "otherwise"

    def _doubt(self, raised: Raised) -> str | None:
        """Why an exception may be no refusal of the program at all, or None.

        A `TypeError` that no `raise` names can be a gap of the interpreter as well as a fault of
        the program; only the other kinds are sure to be what Python would do.
        """
        kinds = {cls.name for cls in raised.value.cls.mro}
        if raised.explicit or not kinds & DOUBTFUL:
            return None
        text = self.session.machine.as_text(raised.value)
        where = f" at {raised.place[0]}:{raised.place[1]}" if raised.place else ""
        return f"{raised.value.cls.name} in an operation{where}: {text}"

    def _rejected(self, launch: Launch, raised: Raised) -> Resolution:
        return Resolution(
            launch,
            Outcome.REJECTED,
            rejection=self.refusal(raised),
            possible=self._possible(),
            assumptions=self._assumptions(),
        )

    def refusal(
        self, raised: Raised, stage: str = "resolution", guard: str | None = None
    ) -> Refusal:
        """A refusal from an exception of the program."""
        kind = raised.value.cls.name
        text = self.session.machine.as_text(raised.value)
        message = str(
            raised.value.d.get("message") or (text.name if isinstance(text, Unknown) else text)
        )
        place = None
        if kind != "SystemExit" and raised.place is not None and raised.place[0]:
            place = Place(raised.place[0], raised.place[1])
        return Refusal(kind, message, place, stage, guard)

    def _possible(self) -> tuple[Refusal, ...]:
        return tuple(
            self.refusal(item.raised, guard=self.guard_text(item.cube))
            for item in self.session.machine.refusals
        )

    def _assumptions(self) -> tuple[Assumption, ...]:
        return self.world.assumptions()


def _notes(reached: Reached) -> tuple[str, ...]:
    notes = []
    if reached.stopped:
        notes.append(f"run-time initialisers not followed: {reached.stopped}")
    if reached.late_reason:
        notes.append(f"not followed after loading starts: {reached.late_reason}")
    return tuple(notes)


def unknown(
    launch: Launch, reason: str, world: World, possible: tuple[Refusal, ...] = ()
) -> Resolution:
    """The answer where it cannot be told what happens."""
    return Resolution(
        launch, Outcome.UNKNOWN, reason=reason, possible=possible, assumptions=world.assumptions()
    )


def text_or_name(value: Value) -> JsonValue:
    """A case's value, or the name of what is not known."""
    try:
        return plain(value)
    except NotPlainError as reason:
        return f"unknown: {reason}"


def allow_models(session: Session, launch: Launch) -> list[str]:
    """Let the launch read its model folders; gives the arguments as the program sees them."""
    files = session.imports.standins.files
    files.roots.clear()
    argv = list(launch.argv)
    for word in argv:
        path = Path(word.partition("=")[2] if word.startswith("--") and "=" in word else word)
        if path.is_absolute() and path.is_dir():
            files.allow(str(path), path)
        elif path.suffix in CONFIG_SUFFIXES and path.is_file():
            files.allow(str(path), path.absolute())
            for folder in folders_named(path):
                files.allow(str(folder), folder)
    if launch.model_config is not None:
        folder = Path(launch.model_config)
        folder = folder if folder.is_dir() else folder.parent
        files.allow(model_argument(argv) or str(folder), folder)
    model = model_argument(argv)
    files.unknown_roots = set()
    if model is not None and model.rstrip("/") not in files.roots:
        files.unknown_roots.add(model.rstrip("/"))
    return argv


def folders_named(path: Path) -> list[Path]:
    """Folders that a file of settings names: the model among them."""
    import yaml

    try:
        settings = yaml.safe_load(path.read_bytes()) if path.stat().st_size < 1_000_000 else None
    except (OSError, yaml.YAMLError, ValueError):
        return []
    values = settings.values() if isinstance(settings, dict) else ()
    named = [Path(value) for value in values if isinstance(value, str) and value.startswith("/")]
    return [folder for folder in named if folder.is_dir()]


def has_model(launch: Launch) -> bool:
    """Whether the configuration of the launch's model is at hand, or it names none."""
    model = model_argument(list(launch.argv))
    return model is None or launch.model_config is not None or Path(model).is_dir()


def model_argument(argv: list[str]) -> str | None:
    """The value of `--model-path` or `--model`."""
    for index, word in enumerate(argv):
        name, sign, value = word.partition("=")
        if name in ("--model-path", "--model"):
            if sign:
                return value
            return argv[index + 1] if index + 1 < len(argv) else None
    return None
