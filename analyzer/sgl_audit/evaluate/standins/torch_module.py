"""`torch` and `numpy` as far as configuration code asks them.

Assumes: a build for the vendor of the capability, with CUDA (or ROCm) of the assumed version; one
process, no device initialised; dtypes are constants; every operator name exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins.contexts import Fixed
from sgl_audit.evaluate.values import (
    Class,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    Unknown,
    Value,
)
from sgl_audit.evaluate.world import DEFAULT_ROCM, World

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

# dtype -> (bytes per element, largest finite value, smallest finite value)
DTYPES: dict[str, tuple[int, float | None, float | None]] = {
    "float16": (2, 65504.0, -65504.0),
    "bfloat16": (2, 3.3895313892515355e38, -3.3895313892515355e38),
    "float32": (4, 3.4028234663852886e38, -3.4028234663852886e38),
    "float64": (8, 1.7976931348623157e308, -1.7976931348623157e308),
    "float8_e4m3fn": (1, 448.0, -448.0),
    "float8_e4m3fnuz": (1, 240.0, -240.0),
    "float8_e5m2": (1, 57344.0, -57344.0),
    "float8_e5m2fnuz": (1, 57344.0, -57344.0),
    "float8_e8m0fnu": (1, None, None),
    "float4_e2m1fn_x2": (1, None, None),
    "int8": (1, 127, -128),
    "uint8": (1, 255, 0),
    "int16": (2, 32767, -32768),
    "uint16": (2, 65535, 0),
    "int32": (4, 2147483647, -2147483648),
    "uint32": (4, 4294967295, 0),
    "int64": (8, 9223372036854775807, -9223372036854775808),
    "bool": (1, None, None),
    "complex64": (8, None, None),
}
ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "long": "int64",
}


def _torch(standins: Standins, module: Module) -> None:
    machine = standins.machine
    world = standins.world
    load = machine.imports.load
    version = world.package_version("torch") or "2.9.1"
    module.ns["__version__"] = version + _build(world)
    dtype = machine.imports.opaque("torch.dtype")
    names = {f"torch.{name}" for name in DTYPES}
    dtype.d["isinstance"] = lambda value: isinstance(value, Opaque) and value.name in names
    for name in DTYPES:
        module.ns[name] = machine.imports.opaque(f"torch.{name}")
    for alias, name in ALIASES.items():
        module.ns[alias] = module.ns[name]
    standins.define(
        module,
        raw=True,
        finfo=lambda kind: _limits(machine, kind),
        iinfo=lambda kind: _limits(machine, kind),
    )
    no_context = standins.native("context", lambda *a, **k: Fixed(None), raw=True)
    standins.define(
        module,
        raw=True,
        is_tensor=lambda value: False,
        get_num_threads=lambda: 1,
        set_num_threads=lambda *a: None,
        manual_seed=lambda *a: None,
        get_default_dtype=lambda: module.ns["float32"],
        set_default_dtype=lambda *a: None,
        set_float32_matmul_precision=lambda *a: None,
        compile=lambda target=None, **k: (
            target if target is not None else standins.native("id", lambda f: f, raw=True)
        ),
        get_device_module=lambda *a: load("torch.cuda"),
    )
    for name in ("no_grad", "inference_mode", "enable_grad", "set_grad_enabled"):
        module.ns[name] = Native(name, lambda a, k: _decorator_or_context(a), raw=True)
    module.ns["autocast"] = no_context
    for name in ("version", "cuda", "nn", "backends", "xpu", "mps", "distributed", "library", "_C"):
        module.ns[name] = load(f"torch.{name}")
    device = Class("device", (machine.object_class,), {}, "torch")
    device.ns["__init__"] = Native("device", _device, raw=True, method=True)
    device.ns["__str__"] = Native("str", lambda a, k: a[0].d["text"], raw=True, method=True)
    module.ns["device"] = device
    module.ns["Generator"] = machine.imports.opaque("torch.Generator")
    size = Class("Size", (machine.types[tuple],), {}, "torch")
    module.ns["Size"] = size


def _build(world: World) -> str:
    if not world.has_gpu:
        return "+cpu"
    return "+cu" + world.cuda.replace(".", "") if world.is_cuda else "+rocm"


def _decorator_or_context(args: list[Value]) -> Value:
    return args[0] if args and not isinstance(args[0], bool) else _NoContext()


class _NoContext(Fixed):
    """A context that is also a decorator without effect."""


class NoContextAdapter:
    """Calling such a context decorates a function."""

    def attribute(self, machine: Any, owner: Any, name: str) -> Value:
        """No attributes of interest."""
        from sgl_audit.evaluate.values import MISSING

        return MISSING

    def call(self, machine: Any, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """`@torch.no_grad()`."""
        return args[0]


def _device(args: list[Value], kwargs: dict[str, Value]) -> None:
    kind = args[1] if len(args) > 1 else kwargs.get("type", "cpu")
    index = args[2] if len(args) > 2 else kwargs.get("index")
    if isinstance(kind, str):
        name, _, number = kind.partition(":")
        index = int(number) if number.isdigit() else index
        args[0].d.update(
            {
                "type": name,
                "index": index,
                "text": kind if number or index is None else f"{kind}:{index}",
            }
        )
    else:
        args[0].d.update({"type": kind, "index": index, "text": kind})


def _limits(machine: Any, kind: Value) -> Value:
    if not isinstance(kind, Opaque):
        return Unknown("finfo", "of an unknown dtype")
    size, largest, smallest = DTYPES.get(kind.name.removeprefix("torch."), (4, None, None))
    item = Instance(Class("finfo", (machine.object_class,), {}, "torch"))
    item.d.update({"max": largest, "min": smallest, "bits": size * 8})
    return item


def _version(standins: Standins, module: Module) -> None:
    world = standins.world
    world.ask("cuda")
    module.ns["cuda"] = world.cuda if world.is_cuda else None
    module.ns["hip"] = world.given.get("rocm", DEFAULT_ROCM) if world.is_rocm else None
    module.ns["xpu"] = None


def _cuda(standins: Standins, module: Module) -> None:
    machine = standins.machine
    world = standins.world
    cap = world.capability

    def properties(*args: Value) -> Value:
        capability()
        item = Instance(Class("_CudaDeviceProperties", (machine.object_class,), {}, "torch.cuda"))
        item.d.update(
            {
                "name": device_name(),
                "major": cap.major,
                "minor": cap.minor,
                "total_memory": memory(),
                "gcnArchName": cap.name if world.is_rocm else "",
                "multi_processor_count": Unknown(
                    "multi_processor_count", "differs between cards", ("sm-count",), "machine"
                ),
                "shared_memory_per_block_optin": Unknown(
                    "shared memory", "differs between cards", ("smem",), "machine"
                ),
            }
        )
        return item

    def memory(*args: Value) -> int:
        world.ask("gpu_memory_mib")
        return world.memory_mib << 20

    def device_name(*args: Value) -> str:
        capability()
        world.ask("device_name")
        return world.device_name

    def count() -> int:
        world.ask("gpu_count")
        return world.gpu_count

    def capability(*args: Value) -> tuple[int, int]:
        if not world.has_gpu:
            raise machine.error("AssertionError", "Torch not compiled with CUDA enabled")
        return cap.major, cap.minor

    standins.define(
        module,
        raw=True,
        is_available=lambda: world.has_gpu,
        device_count=count,
        get_device_capability=capability,
        get_device_name=device_name,
        get_device_properties=properties,
        current_device=lambda: 0,
        set_device=lambda *a: None,
        is_initialized=lambda: False,
        synchronize=lambda *a: None,
        empty_cache=lambda: None,
        is_bf16_supported=lambda *a, **k: world.capability.major >= 8,
        get_arch_list=lambda: Unknown("get_arch_list()", "depends on how torch was built"),
        mem_get_info=lambda *a: Unknown(
            "free GPU memory", "measured on the machine", ("free-memory",), "machine"
        ),
    )
    module.ns["_device_count_nvml"] = module.ns["device_count"]


def _backends(standins: Standins, module: Module) -> None:
    machine = standins.machine
    world = standins.world

    def space(**functions: Any) -> Instance:
        item = Instance(Class("backend", (machine.object_class,), {}, "torch.backends"))
        item.d.update(
            {name: standins.native(name, run, raw=True) for name, run in functions.items()}
        )
        return item

    def cudnn_version() -> int:
        world.ask("cudnn")
        major, minor, patch = (int(part) for part in ([*world.cudnn.split("."), "0", "0"])[:3])
        return major * 10000 + minor * 100 + patch

    module.ns["cudnn"] = space(version=cudnn_version, is_available=lambda: world.is_cuda)
    module.ns["mps"] = space(is_available=lambda: False, is_built=lambda: False)
    module.ns["cuda"] = space(is_built=lambda: world.is_cuda)
    module.ns["cuda"].d["matmul"] = machine.imports.opaque("torch.backends.cuda.matmul")
    module.ns["opt_einsum"] = space(is_available=lambda: False)


def _unavailable(standins: Standins, module: Module) -> None:
    standins.define(
        module,
        raw=True,
        is_available=lambda: False,
        device_count=lambda: 0,
        is_initialized=lambda: False,
    )


def _distributed(standins: Standins, module: Module) -> None:
    standins.define(
        module,
        raw=True,
        is_available=lambda: True,
        is_initialized=lambda: False,
        get_rank=lambda *a: 0,
        get_world_size=lambda *a: 1,
    )


def _nn(standins: Standins, module: Module) -> None:
    machine = standins.machine
    cls = Class("Module", (machine.object_class,), {}, "torch.nn")
    nothing = standins.native("nothing", lambda *a, **k: None, raw=True)
    nothing.method = True
    for name in ("__init__", "register_buffer", "eval", "train", "requires_grad_", "to", "apply"):
        cls.ns[name] = nothing
    cls.ns["register_parameter"] = Native(
        "register_parameter",
        lambda a, k: machine.plain_setattr(a[0], a[1], a[2] if len(a) > 2 else k.get("param")),
        raw=True,
        method=True,
    )
    for name in ("named_modules", "modules", "parameters", "named_parameters", "children"):
        cls.ns[name] = Native(name, lambda a, k: [], raw=True, method=True)
    cls.ns["training"] = False
    module.ns["Module"] = cls
    module.ns["ModuleList"] = _module_list(machine, cls)
    module.ns["ModuleDict"] = Class("ModuleDict", (cls,), {}, "torch.nn")


def _module_list(machine: Any, base: Class) -> Class:
    """`torch.nn.ModuleList`: a list of modules that is itself one."""

    def start(args: list[Value], kwargs: dict[str, Value]) -> None:
        given = args[1] if len(args) > 1 else kwargs.get("modules")
        items = [] if given is None else list(machine.iterate(given))
        machine.plain_setattr(args[0], "_items", items)

    def items(args: list[Value]) -> Value:
        return args[0].d.get("_items", [])

    def append(args: list[Value], kwargs: dict[str, Value]) -> Value:
        machine.touch(items(args))
        items(args).append(args[1])
        return args[0]

    cls = Class("ModuleList", (base,), {}, "torch.nn")
    methods = {
        "__init__": start,
        "__getitem__": lambda a, k: machine.getitem(items(a), a[1]),
        "__iter__": lambda a, k: machine.iterate(items(a)),
        "__len__": lambda a, k: len(items(a)),
        "append": append,
    }
    for name, run in methods.items():
        cls.ns[name] = Native(name, run, raw=True, method=True)
    return cls


def _native_part(standins: Standins, module: Module) -> None:
    """`torch._C`: the host is taken to be x86-64 without AMX tiles."""
    machine = standins.machine
    cpu = Instance(Class("_cpu", (machine.object_class,), {}, "torch._C"))
    for name in ("_is_amx_tile_supported", "_is_amx_fp16_supported"):
        cpu.d[name] = standins.native(name, lambda: False)
    cpu.d["_is_avx512_supported"] = standins.native("_is_avx512_supported", lambda: True)
    module.ns["_cpu"] = cpu


def _cpu(standins: Standins, module: Module) -> None:
    """`torch.cpu`: the host has no AMX tiles."""
    for name in ("_is_amx_tile_supported", "_is_amx_fp16_supported", "_init_amx"):
        module.ns[name] = standins.native(name, lambda: False)
    standins.define(module, is_available=lambda: True, device_count=lambda: 1)


def _library(standins: Standins, module: Module) -> None:
    """`torch.library`: registering operators has no effect."""
    machine = standins.machine
    nothing = standins.native("nothing", lambda *a, **k: None, raw=True)
    cls = Class("Library", (machine.object_class,), {}, "torch.library")

    def start(args: list[Value], kwargs: dict[str, Value]) -> None:
        inner = Instance(Class("Module", (machine.object_class,), {}, "torch._C"))
        inner.d["name"] = args[1] if len(args) > 1 else "library"
        args[0].d.update({"m": inner, "ns": inner.d["name"]})

    cls.ns["__init__"] = Native("Library", start, raw=True, method=True)
    for name in ("define", "impl", "_register_fake", "fallback"):
        cls.ns[name] = nothing
    module.ns["Library"] = cls
    identity = standins.native("identity", lambda f: f, raw=True)
    for name in ("custom_op", "register_fake", "register_kernel", "impl", "triton_op"):
        module.ns[name] = standins.native(name, lambda *a, **k: identity, raw=True)
    module.ns["infer_schema"] = standins.native("infer_schema", lambda *a, **k: "()", raw=True)
    module.ns["wrap_triton"] = identity


def _contexts(standins: Standins, module: Module) -> None:
    """`torch.utils._contextlib`: context managers that decorate without changing results."""
    cls = Class("_DecoratorContextManager", (standins.machine.object_class,), {}, module.name)
    cls.ns["__call__"] = Native("__call__", lambda a, k: a[1], raw=True, method=True)
    for name in ("__enter__", "__exit__", "clone"):
        cls.ns[name] = Native(name, lambda a, k: None, raw=True, method=True)
    module.ns["_DecoratorContextManager"] = cls
    module.ns["_NoParamDecoratorContextManager"] = cls


BUILDERS: dict[str, Any] = {
    "torch": _torch,
    "torch.utils._contextlib": _contexts,
    "torch._C": _native_part,
    "torch.cpu": _cpu,
    "torch.library": _library,
    "torch.version": _version,
    "torch.cuda": _cuda,
    "torch.backends": _backends,
    "torch.xpu": _unavailable,
    "torch.mps": _unavailable,
    "torch.distributed": _distributed,
    "torch.nn": _nn,
}
__all__ = ["BUILDERS", "NoContextAdapter", "Property", "_NoContext"]
