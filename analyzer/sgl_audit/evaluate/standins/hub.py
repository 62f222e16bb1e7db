"""`transformers` and `huggingface_hub`.

Assumes: offline. The configuration classes of the pinned transformers are interpreted where its
source is at hand; everything else of it is opaque. Type checks of `huggingface_hub.dataclasses`
are taken to pass; class validators run.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins.pure import exception_class
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Raised,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

CLASS_LINE = re.compile(rb"^class (\w+)\(", re.MULTILINE)
# Modules of transformers that are interpreted; the rest is opaque.
INTERPRETED = re.compile(
    r"transformers\.(configuration_utils|modeling_rope_utils|generation\.configuration_utils"
    r"|integrations\.heterogeneity(\..+)?|models\.auto\.(configuration_auto|auto_mappings)"
    r"|models\..+\.configuration_\w+)$"
)


def interpreted(module: str) -> bool:
    """Whether a module of transformers is interpreted."""
    return INTERPRETED.match(module) is not None


class Catalogue:
    """Which configuration file of transformers defines which class."""

    def __init__(self, standins: Standins) -> None:
        self.standins = standins
        self._classes: dict[str, str] | None = None

    @property
    def classes(self) -> dict[str, str]:
        """Class name -> module."""
        if self._classes is None:
            self._classes = {}
            program = self.standins.machine.imports.program
            for module, path in sorted(program.library_files("transformers").items()):
                if ".configuration_" in module and ".models." in module:
                    for match in CLASS_LINE.finditer(program.read(path)):
                        self._classes.setdefault(match.group(1).decode(), module)
        return self._classes


def _catalogue(standins: Standins) -> Catalogue:
    found = standins.world.extra.get("catalogue")
    if found is None:
        found = standins.world.extra["catalogue"] = Catalogue(standins)
    return found


def _transformers(standins: Standins, module: Module) -> None:
    machine = standins.machine
    program = machine.imports.program

    def find(name: Value) -> Value:
        if not program.has_library("transformers"):
            bag = _bag_names(standins).get(name, MISSING)
            return bag if bag is not MISSING else standins.attribute(module, name)
        target = _home_of(standins, name)
        if target is not None:
            value = machine.module_attribute(machine.imports.load(target), name)
            if value is not MISSING:
                machine.touch(module.ns)
                module.ns[name] = value
                return value
        return standins.attribute(module, name)

    hook = Native("transformers.__getattr__", lambda args, kw: find(args[0]), raw=True)
    module.ns["__getattr__"] = hook


HOMES = {
    "AutoConfig": "transformers.models.auto.configuration_auto",
    "CONFIG_MAPPING": "transformers.models.auto.configuration_auto",
    "PretrainedConfig": "transformers.configuration_utils",
    "PreTrainedConfig": "transformers.configuration_utils",
    "GenerationConfig": "transformers.generation.configuration_utils",
}


def _home_of(standins: Standins, name: str) -> str | None:
    if name in HOMES:
        return HOMES[name]
    return _catalogue(standins).classes.get(name) if name.endswith("Config") else None


def _models_package(standins: Standins, module: Module) -> None:
    """A package `transformers.models.x`: its configuration classes by name."""
    machine = standins.machine

    def find(name: Value) -> Value:
        for sub in machine.imports.program.library_submodules(module.name):
            full = f"{module.name}.{sub}"
            if sub.startswith("configuration_") and interpreted(full):
                value = machine.module_attribute(machine.imports.load(full), name)
                if value is not MISSING:
                    return value
        return standins.attribute(module, name)

    module.ns["__getattr__"] = Native("__getattr__", lambda args, kw: find(args[0]), raw=True)


def _utils(standins: Standins, module: Module) -> None:
    machine = standins.machine
    files = standins.files

    def cached_file(path: Value, filename: Value, **options: Value) -> Value:
        folder = files.text(path)
        doubt = files.doubt(posixpath.join(folder, files.text(filename)), "says in")
        if doubt is not None:
            return doubt
        target = posixpath.join(folder, filename) if not files.is_file(folder) else folder
        if files.is_file(target):
            return target
        if options.get("_raise_exceptions_for_missing_entries", True):
            raise machine.error(
                "OSError", f"{folder} does not appear to have a file named {filename}"
            )
        return None

    silent = machine.imports.load("logging")
    logger = Module("transformers.utils.logging")
    logger.state = "loaded"
    base = machine.call(silent.ns["getLogger"], ["transformers"], {})
    base.cls.ns["warning_once"] = base.cls.ns["warning"]
    base.cls.ns["info_once"] = base.cls.ns["info"]
    base.cls.ns["warning_advice"] = base.cls.ns["warning"]
    for name in ("get_logger", "set_verbosity_error", "set_verbosity_warning", "set_verbosity"):
        logger.ns[name] = standins.native(name, lambda *a: base, raw=True)
    logger.ns["get_verbosity"] = standins.native("get_verbosity", lambda: 30, raw=True)
    module.ns["logging"] = logger
    identity = standins.native("identity", lambda item: item, raw=True)
    standins.define(
        module,
        raw=True,
        cached_file=cached_file,
        extract_commit_hash=lambda *a, **k: None,
        resolve_revision=lambda *a, **k: None,
        is_remote_url=lambda *a: False,
        is_torch_available=lambda: True,
        is_offline_mode=lambda: True,
        auto_docstring=lambda *a, **k: a[0] if a else identity,
        add_start_docstrings=lambda *a, **k: identity,
        requires_backends=lambda *a: None,
        copy_func=lambda function: function,
        is_timm_config_dict=lambda config: isinstance(config, dict) and "pretrained_cfg" in config,
        is_timm_local_checkpoint=lambda *a: False,
        to_diff_dict=lambda *a: {},
    )
    for name in ("tf", "flax", "vision", "timm", "peft", "accelerate", "torchvision", "kernels"):
        module.ns[f"is_{name}_available"] = standins.native(
            name, lambda: name not in ("tf", "flax"), raw=True
        )
    module.ns["CONFIG_NAME"] = "config.json"
    module.ns["GENERATION_CONFIG_NAME"] = "generation_config.json"
    mixin = Class("PushToHubMixin", (machine.object_class,), {}, module.name)
    mixin.ns["push_to_hub"] = Native("push_to_hub", lambda a, k: None, raw=True, method=True)
    module.ns["PushToHubMixin"] = mixin
    generic = Class("ExplicitEnum", (machine.imports.load("enum").ns["Enum"],), {}, module.name)
    generic.data["on_subclass"] = machine.imports.load("enum").ns["Enum"].data["on_subclass"]
    module.ns["ExplicitEnum"] = generic


def _dynamic(standins: Standins, module: Module) -> None:
    machine = standins.machine

    def remote(*args: Value, **kwargs: Value) -> Value:
        raise machine.error("OSError", "the model's own code is not loaded")

    def trust(
        given: Value, name: Value, has_local: Value, has_remote: Value, *rest: Value, **kw: Value
    ) -> Value:
        if given is None:
            if has_local is True:
                return False
            raise machine.error("ValueError", "the model needs trust_remote_code=True")
        if has_remote is True and has_local is False and given is False:
            raise machine.error("ValueError", "the model needs trust_remote_code=True")
        return given

    standins.define(
        module,
        raw=True,
        get_class_from_dynamic_module=remote,
        resolve_trust_remote_code=trust,
        custom_object_save=lambda *a, **k: None,
    )


def _strict_module(standins: Standins, module: Module) -> None:
    machine = standins.machine
    base = machine.exceptions["Exception"]
    failure = Class("StrictDataclassClassValidationError", (base,), {}, "huggingface_hub.errors")

    def strict(cls: Value = None, *, accept_kwargs: bool = False, **kw: Value) -> Value:
        if cls is None:
            return standins.native("strict", lambda target: apply(target, accept_kwargs), raw=True)
        return apply(cls, accept_kwargs)

    def apply(cls: Value, accept_kwargs: bool) -> Value:
        if not isinstance(cls, Class):
            return cls
        names = sorted(
            {name for parent in cls.mro for name in parent.ns if str(name).startswith("validate_")}
        )
        validators = [machine.class_attribute(cls, name) for name in names]
        cls.ns["__class_validators__"] = [
            v for v in validators if isinstance(v, (Function, Native))
        ]
        first = _keyword_init(machine, cls) if accept_kwargs else cls.find("__init__")

        def validate_all(args: list[Value], kwargs: dict[str, Value]) -> None:
            for validator in cls.ns["__class_validators__"]:
                validate(validator, args[0])

        def run(args: list[Value], kwargs: dict[str, Value]) -> None:
            machine.call(first, args, kwargs)
            validate_all(args, kwargs)

        cls.ns["__init__"] = Native("__init__", run, raw=True, method=True)
        cls.ns["validate"] = Native("validate", validate_all, raw=True, method=True)
        cls.forget()
        return cls

    def validate(validator: Value, item: Value) -> None:
        try:
            machine.call(validator, [item], {})
        except Raised as raised:
            if not {"ValueError", "TypeError"} & {c.name for c in raised.value.cls.mro}:
                raise
            error = Instance(failure)
            error.d["args"] = (machine.as_text(raised.value),)
            raise Raised(error, raised.place) from None

    module.ns["strict"] = standins.native("strict", strict, raw=True)
    module.ns["as_validated_field"] = standins.native(
        "as_validated_field", lambda f: _field_maker(standins), raw=True
    )
    module.ns["validated_field"] = standins.native(
        "validated_field", lambda *a, **k: _field(standins, k), raw=True
    )
    module.ns["validate_typed_dict"] = standins.native(
        "validate_typed_dict", lambda *a: None, raw=True
    )


def _field(standins: Standins, options: dict[str, Value]) -> Value:
    """A dataclass field whose validator is taken to pass."""
    make = standins.machine.imports.load("dataclasses").ns["field"]
    kept = {
        k: v
        for k, v in options.items()
        if k in ("default", "default_factory", "init", "metadata", "kw_only")
    }
    return standins.machine.call(make, [], kept)


def _field_maker(standins: Standins) -> Native:
    return standins.native("validated field", lambda *a, **k: _field(standins, k), raw=True)


def _validators(standins: Standins, module: Module) -> None:
    maker = _field_maker(standins)
    for name in ("interval", "is_divisible_by", "tensor_shape"):
        module.ns[name] = standins.native(name, lambda *a, **k: maker, raw=True)
    for name in ("probability", "activation_fn_key", "positive_int_field", "token_id"):
        module.ns[name] = maker
    module.ns["__getattr__"] = standins.native("__getattr__", lambda name: maker, raw=True)


def _keyword_init(machine: Any, cls: Class) -> Native:
    def run(args: list[Value], kwargs: dict[str, Value]) -> None:
        owner = args[0]
        fields = owner.cls.data.get("record") or cls.data["record"]
        names = {field.name for field in cls.data["record"]}
        for field in cls.data["record"]:
            if field.name in kwargs:
                machine.setattr(owner, field.name, kwargs[field.name])
            elif field.has_default:
                machine.setattr(owner, field.name, field.value(machine))
            else:
                raise machine.error("TypeError", f"Missing required field - {field.name!r}")
        extra = {name: value for name, value in kwargs.items() if name not in names}
        post = machine.lookup(owner, "__post_init__")
        if post is not MISSING:
            machine.call(post, [], extra)
        del fields

    return Native("__init__", run, raw=True, method=True)


def _huggingface(standins: Standins, module: Module) -> None:
    machine = standins.machine
    files = standins.files

    def offline(*args: Value, **kwargs: Value) -> Value:
        raise Raised(machine.call(_hub_error(standins, "LocalEntryNotFoundError"), ["offline"], {}))

    def download(path: Value, *rest: Value, **options: Value) -> Value:
        return path if files.doubt(path, "is at") or files.is_dir(path) else offline()

    def entry(path: Value, filename: Value = None, **options: Value) -> Value:
        target = posixpath.join(files.text(path), filename)
        doubt = files.doubt(target, "says in")
        if doubt is not None:
            return doubt
        return target if files.is_file(target) else offline()

    standins.define(
        module,
        raw=True,
        snapshot_download=download,
        hf_hub_download=entry,
        try_to_load_from_cache=lambda *a, **k: None,
        file_exists=offline,
        list_repo_files=offline,
        model_info=offline,
        scan_cache_dir=offline,
        is_offline_mode=lambda: True,
    )
    api = Class("HfApi", (machine.object_class,), {}, "huggingface_hub")
    for name in ("model_info", "list_repo_files", "file_exists", "repo_info"):
        api.ns[name] = standins.native(name, offline, raw=True)
    module.ns["HfApi"] = api
    module.ns["HfFileSystem"] = api
    constants = Module("huggingface_hub.constants")
    constants.state = "loaded"
    constants.ns.update(
        {"HF_HUB_OFFLINE": True, "HF_HUB_CACHE": "/hub", "HF_HUB_ENABLE_HF_TRANSFER": False}
    )
    module.ns["constants"] = constants
    machine.imports.modules["huggingface_hub.constants"] = constants


def _hub_error(standins: Standins, name: str) -> Class:
    known = standins.machine.exceptions
    if name not in known:
        parents = {"LocalEntryNotFoundError": (known["FileNotFoundError"], known["ValueError"])}
        known[name] = Class(
            name, parents.get(name, (known["OSError"],)), {}, "huggingface_hub.errors"
        )
    return known[name]


def _hub_logging(standins: Standins, module: Module) -> None:
    logging = standins.machine.imports.load("logging")
    module.ns["get_logger"] = logging.ns["getLogger"]
    for name in ("set_verbosity_error", "set_verbosity_warning", "set_verbosity"):
        module.ns[name] = standins.native(name, lambda *a: None, raw=True)


def _hub_errors(standins: Standins, module: Module) -> None:
    names = (
        "LocalEntryNotFoundError EntryNotFoundError RepositoryNotFoundError GatedRepoError "
        "HFValidationError RevisionNotFoundError HfHubHTTPError OfflineModeIsEnabled "
        "StrictDataclassClassValidationError"
    )
    for name in names.split():
        module.ns[name] = _hub_error(standins, name)


def _bag_names(standins: Standins) -> dict[str, Value]:
    """Without transformers' source: configurations are plain bags of what config.json says."""
    found = standins.world.extra.get("bag")
    if found is None:
        from sgl_audit.evaluate.standins.bag import bag_names

        found = standins.world.extra["bag"] = bag_names(standins)
    return found


def _bag_module(standins: Standins, module: Module) -> None:
    for name, value in _bag_names(standins).items():
        module.ns[name] = value


BUILDERS: dict[str, Any] = {
    "transformers": _transformers,
    "transformers.configuration_utils": _bag_module,
    "transformers.models.auto.configuration_auto": _bag_module,
    "transformers.generation.configuration_utils": _bag_module,
    "transformers.utils": _utils,
    "transformers.utils.generic": _utils,
    "transformers.utils.hub": _utils,
    "transformers.utils.type_validators": _validators,
    "transformers.dynamic_module_utils": _dynamic,
    "huggingface_hub": _huggingface,
    "huggingface_hub.dataclasses": _strict_module,
    "huggingface_hub.errors": _hub_errors,
    "huggingface_hub.utils": _hub_errors,
    "huggingface_hub.utils.logging": _hub_logging,
}
models_package = _models_package
__all__ = ["BUILDERS", "Opaque", "Unknown", "exception_class", "interpreted", "models_package"]
