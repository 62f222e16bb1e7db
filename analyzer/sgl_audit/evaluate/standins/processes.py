"""`subprocess`, time, randomness, threads, context variables, sockets and device libraries.

Assumes: `nvidia-smi` reports memory per GPU and refuses other queries; `lscpu` reports the NUMA
nodes that are assumed, one by default; no other program can be started; every port is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Instance,
    Module,
    Native,
    Undecidable,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

HOST_CPUS = 64


def _subprocess(standins: Standins, module: Module) -> None:
    machine = standins.machine
    world = standins.world
    import subprocess as real

    from sgl_audit.evaluate.standins.pure import exception_class

    for name in ("CalledProcessError", "TimeoutExpired", "SubprocessError"):
        module.ns[name] = exception_class(standins, getattr(real, name))
    done = Class("CompletedProcess", (machine.object_class,), {}, "subprocess")

    def answer(command: Value) -> tuple[int, str]:
        words = command if isinstance(command, list) else str(command).split()
        text = " ".join(str(word) for word in words)
        if "nvidia-smi" in text and "memory.total" in text and world.is_cuda:
            world.ask("gpu_memory_mib")
            return 0, f"{world.memory_mib}\n" * world.gpu_count
        if "nvidia-smi" in text and world.is_cuda:
            if "compute_cap" in text:
                cap = world.capability
                return 0, f"{cap.major}.{cap.minor}\n" * world.gpu_count
            if "driver_version" in text and world.driver:
                world.ask("driver")
                return 0, f"{world.driver}\n"
            return 1, ""
        if "rocminfo" in text and "Size" in text and world.is_rocm:
            # The pipelines that ask it end in the size of each GPU's memory in KiB.
            world.ask("gpu_memory_mib")
            return 0, f"{world.memory_mib << 10}(0x{world.memory_mib << 10:x})\n" * world.gpu_count
        if "rocm-smi" in text and world.is_rocm:
            return 0, "".join(
                f"GPU[{i}] : VRAM Total Memory (B): {world.memory_mib << 20}\n"
                for i in range(world.gpu_count)
            )
        if "lscpu" in text and "CPU,Core,Socket,Node" in text:
            # As many CPUs as `os.cpu_count()` says, spread over the nodes.
            share = -(-HOST_CPUS // world.numa_nodes)
            nodes = [(cpu, cpu // share) for cpu in range(HOST_CPUS)]
            return 0, "".join(f"{cpu},{cpu},{node},{node}\n" for cpu, node in nodes)
        raise machine.error(
            "FileNotFoundError", 2, f"No such file or directory: {words[0] if words else ''!r}"
        )

    def run(command: Value, *rest: Value, **options: Value) -> Value:
        code, text = answer(command)
        if code and options.get("check"):
            raise machine.error("CalledProcessError", code, command)
        item = Instance(done)
        item.d.update({"returncode": code, "stdout": text, "stderr": ""})
        return item

    def check_output(command: Value, *rest: Value, **options: Value) -> Value:
        code, text = answer(command)
        if code:
            raise machine.error("CalledProcessError", code, command)
        return (
            text
            if options.get("text") or options.get("universal_newlines") or options.get("encoding")
            else text.encode()
        )

    standins.define(
        module,
        run=run,
        check_output=check_output,
        call=lambda *a, **k: 1,
        check_call=lambda *a, **k: 1,
    )
    module.ns.update({"PIPE": -1, "STDOUT": -2, "DEVNULL": -3})


RANDOM = (
    *("random", "randint", "choice", "uniform", "sample", "randrange", "choices", "gauss"),
    *("token_hex", "token_urlsafe", "token_bytes", "getrandbits", "randbits", "randbelow"),
)


CLOCKS = (
    *("time", "perf_counter", "monotonic", "time_ns", "perf_counter_ns", "monotonic_ns"),
    *("process_time", "strftime", "localtime", "gmtime", "ctime"),
)


def _chance(standins: Standins, module: Module) -> None:
    """What comes out anew at every call: no two answers are taken for equal."""

    def anew(name: str, reason: str) -> Native:
        return Native(name, lambda args, kw: Unknown(name, reason, kind="random"), raw=True)

    def shuffle(items: Value) -> None:
        if len(items) > 1:
            raise Undecidable("shuffles a list")

    at_random, when = "chosen anew at every start", "depends on when the server starts"
    match module.name:
        case "random" | "secrets":
            module.ns.update({name: anew(f"{module.name}.{name}()", at_random) for name in RANDOM})
            standins.define(module, raw=True, seed=lambda *a: None, shuffle=shuffle)
        case "uuid":
            cls = Class("UUID", (standins.machine.object_class,), {}, "uuid")
            cls.ns["__str__"] = standins.native("str", lambda o: o.d["hex"], raw=True)
            cls.ns["__str__"].method = True

            def make(*args: Value) -> Value:
                item = Instance(cls)
                item.d["hex"] = item.d["int"] = Unknown("a new id", at_random, kind="random")
                return item

            standins.define(module, raw=True, uuid4=make, uuid1=make, uuid5=make, uuid3=make)
            module.ns["UUID"] = cls
        case "time":
            module.ns.update({name: anew(f"time.{name}()", when) for name in CLOCKS})
            standins.define(module, raw=True, sleep=lambda *a: None)


def _threads(standins: Standins, module: Module) -> None:
    machine = standins.machine
    lock = Class("Lock", (machine.object_class,), {}, module.name)
    for name in (
        "acquire",
        "release",
        "set",
        "clear",
        "start",
        "join",
        "wait",
        "notify_all",
        "__exit__",
    ):
        lock.ns[name] = standins.native(name, lambda *a, **k: None, raw=True)
    lock.ns["__enter__"] = Native("__enter__", lambda a, k: a[0], raw=True, method=True)
    lock.ns["is_set"] = standins.native("is_set", lambda *a: False, raw=True)
    for name in (
        "Lock",
        "RLock",
        "Event",
        "Condition",
        "Semaphore",
        "BoundedSemaphore",
        "Thread",
        "Timer",
    ):
        module.ns[name] = standins.native(name, lambda *a, **k: Instance(lock), raw=True)
    module.ns["Thread"] = Class("Thread", (lock,), {}, module.name)
    local = Class("local", (machine.object_class,), {}, module.name)
    module.ns["local"] = local
    standins.define(
        module,
        raw=True,
        get_ident=lambda: 1,
        current_thread=lambda: Instance(lock),
        main_thread=lambda: Instance(lock),
        active_count=lambda: 1,
    )


def _contextvars(standins: Standins, module: Module) -> None:
    machine = standins.machine
    cls = Class("ContextVar", (machine.object_class,), {}, "contextvars")

    def make(name: Value, *, default: Value = MISSING) -> Value:
        item = Instance(cls)
        item.d.update({"name": name, "value": default})
        return item

    def get(item: Value, *default: Value) -> Value:
        if item.d["value"] is not MISSING:
            return item.d["value"]
        if default:
            return default[0]
        raise machine.error("LookupError", item.d["name"])

    def put(item: Value, value: Value) -> Value:
        machine.touch(item.d)
        before = item.d["value"]
        item.d["value"] = value
        return (item, before)

    def reset(item: Value, token: Value) -> None:
        machine.touch(item.d)
        item.d["value"] = token[1]

    for name, run in (("get", get), ("set", put), ("reset", reset)):
        cls.ns[name] = Native(name, lambda a, k, run=run: run(*a, **k), raw=True, method=True)  # type: ignore[misc]
    module.ns["ContextVar"] = standins.native("ContextVar", make, raw=True)
    module.ns["Token"] = machine.imports.opaque("contextvars.Token")


def _sockets(standins: Standins, module: Module) -> None:
    machine = standins.machine
    socket = Class("socket", (machine.object_class,), {}, "socket")
    for name in ["bind", "listen", "close", "setsockopt", "settimeout", "shutdown", "__exit__"]:
        socket.ns[name] = standins.native(name, lambda *a, **k: None, raw=True)
    socket.ns["connect_ex"] = standins.native("connect_ex", lambda *a: 111, raw=True)
    socket.ns["getsockname"] = standins.native(
        "getsockname", lambda *a: ("127.0.0.1", 40000), raw=True
    )
    socket.ns["__enter__"] = Native("__enter__", lambda a, k: a[0], raw=True, method=True)
    socket.ns["__init__"] = standins.native("__init__", lambda *a, **k: None, raw=True)
    module.ns["socket"] = socket
    standins.define(
        module,
        gethostname=lambda: "host",
        gethostbyname=lambda name: "127.0.0.1",
        getaddrinfo=lambda *a, **k: [(2, 1, 6, "", ("127.0.0.1", 0))],
        inet_pton=lambda *a: b"",
    )
    module.ns.update(
        {
            "AF_INET": 2,
            "AF_INET6": 10,
            "SOCK_STREAM": 1,
            "SOL_SOCKET": 1,
            "SO_REUSEADDR": 2,
            "SOCK_DGRAM": 2,
            "SO_REUSEPORT": 15,
            "IPPROTO_IPV6": 41,
            "IPV6_V6ONLY": 26,
        }
    )
    for name in ("error", "timeout", "gaierror"):
        module.ns[name] = machine.exceptions["OSError"]


def _psutil(standins: Standins, module: Module) -> None:
    machine, world = standins.machine, standins.world
    memory = Unknown("host memory", "the host is not known", ("host-memory",), "machine")

    def virtual_memory() -> Value:
        if world.has_gpu or not world.memory_mib:
            return memory
        # Without a GPU the memory that was given is the host's.
        world.ask("gpu_memory_mib")
        item = Instance(Class("svmem", (machine.object_class,), {}, "psutil"))
        item.d["total"] = world.memory_mib << 20
        item.d["available"] = Unknown(
            "free host memory", "measured on the machine", ("free-memory",), "machine"
        )
        return item

    process = Class("Process", (machine.object_class,), {}, "psutil")
    process.ns["__init__"] = Native("Process", lambda a, k: None, raw=True, method=True)
    process.ns["cpu_affinity"] = Native(
        "cpu_affinity", lambda a, k: list(range(HOST_CPUS)), raw=True, method=True
    )
    module.ns["Process"] = process
    standins.define(
        module,
        virtual_memory=virtual_memory,
        cpu_count=lambda logical=True: HOST_CPUS,
        pid_exists=lambda pid: False,
    )


def _nvml(standins: Standins, module: Module) -> None:
    machine = standins.machine
    error = Class("NVMLError", (machine.exceptions["Exception"],), {}, "pynvml")
    module.ns["NVMLError"] = error

    def fail(*args: Value, **kwargs: Value) -> None:
        from sgl_audit.evaluate.values import Raised

        raise Raised(machine.call(error, ["NVML Shared Library Not Found"], {}))

    standins.define(
        module,
        nvmlInit=fail,
        nvmlDeviceGetHandleByIndex=fail,
        nvmlShutdown=fail,
        nvmlDeviceGetCount=fail,
        nvmlSystemGetDriverVersion=fail,
    )


BUILDERS: dict[str, Any] = {
    "subprocess": _subprocess,
    "random": _chance,
    "secrets": _chance,
    "uuid": _chance,
    "time": _chance,
    "threading": _threads,
    "multiprocessing": _threads,
    "contextvars": _contextvars,
    "socket": _sockets,
    "psutil": _psutil,
    "pynvml": _nvml,
}
