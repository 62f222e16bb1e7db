"""Byte-built ELF files and fat binaries, so that the parsers are tested without CUDA tools."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

EXACT, FAMILY, LZ4, ZSTD = 1 << 20, 1 << 21, 0x2000, 0x8000


def cubin(number: int, *, abi: int = 8, accelerated: bool = False) -> bytes:
    flags = number << 8 | (8 if accelerated else 0)
    if abi < 8:
        flags = number | (0x800 if accelerated else 0)
    ident = b"\x7fELF\x02\x01\x01\x41" + bytes([abi]) + bytes(7)
    return ident + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 0, flags, 64, 0, 0, 0, 0, 0)


def entry(kind: int, number: int, payload: bytes, flags: int = 0, header: int = 64) -> bytes:
    padded = payload + bytes(-len(payload) % 8)
    head = struct.pack("<HHIQIIHHIIIQ", kind, 0x101, header, len(padded), 0, 0, 8, 1, number, 0, 0,
                       flags | 0x11)  # fmt: skip
    return head + bytes(header - len(head)) + padded


def container(*entries: bytes, version: int = 1, size: int | None = None) -> bytes:
    body = b"".join(entries)
    stated = len(body) if size is None else size
    return struct.pack("<IHHQ", 0xBA55ED50, version, 16, stated) + body


def elf(**sections: bytes) -> bytes:
    """An x86-64 shared object with these sections; `_` in front of a name stands for a dot."""
    names, table, body = b"\0", b"", b""
    headers = [bytes(64)]
    for key, data in [*sections.items(), ("_shstrtab", b"")]:
        name = key if key.startswith("__") else "." + key[1:]
        offset_of_name = len(names)
        names += name.encode() + b"\0"
        content = names if key == "_shstrtab" else data
        kind = 3 if key == "_shstrtab" else 1
        headers.append(struct.pack("<IIQQQQIIQQ", offset_of_name, kind, 2, 0, 64 + len(body),
                                   len(content), 0, 0, 8, 0))  # fmt: skip
        body += content + bytes(-len(content) % 8)
    table = b"".join(headers)
    ident = b"\x7fELF\x02\x01\x01\x00" + bytes(8)
    head = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                               len(headers), len(headers) - 1)  # fmt: skip
    return head + body + table


def bundle(*targets: str) -> bytes:
    body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(targets))
    for target in targets:
        body += struct.pack("<QQQ", 4096, 16, len(target)) + target.encode()
    return body


def wheel(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """The builders above, since test folders are no packages."""
    return SimpleNamespace(
        cubin=cubin, entry=entry, container=container, elf=elf, bundle=bundle, wheel=wheel,
        EXACT=EXACT, FAMILY=FAMILY, LZ4=LZ4, ZSTD=ZSTD,
    )  # fmt: skip
