"""A second wall for the query workers: the kernel refuses them every new socket.

Queries with SERVICE are refused by their tokens; should one ever pass, the engine that would open
the connection finds that it cannot. Only Linux on x86-64 and ARM64 has this wall.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

_SOCKET = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""Per machine: how the kernel names its calling convention, and the number of `socket`."""

_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def forbid_sockets() -> bool:
    """Let every later attempt of this process to open a socket fail; tells whether it will.

    Source: seccomp(2), filter mode; classic BPF over the number of the system call.
    """
    known = _SOCKET.get(platform.machine())
    if known is None or not sys.platform.startswith("linux"):
        return False
    architecture, call = known
    instructions = [
        (_LOAD, 0, 0, 4),
        (_JUMP_IF_EQUAL, 0, 3, architecture),
        (_LOAD, 0, 0, 0),
        (_JUMP_IF_EQUAL, 0, 1, call),
        (_RETURN, 0, 0, _FAIL | errno.EACCES),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(instructions), ctypes.cast(buffer, ctypes.c_void_p).value)
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_ulong(0)] * 3
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), *words) != 0:
        return False
    mode = ctypes.c_ulong(_SECCOMP_MODE_FILTER)
    return bool(libc.prctl(_PR_SET_SECCOMP, mode, ctypes.byref(program), *words[:2]) == 0)
