#!/usr/bin/env python3
"""The digests of docs/fingerprint.md, written from that page alone.

    fingerprint.py DIR          prints "fingerprint HEX" and "local HEX" of a tree
    fingerprint.py --make DIR   makes the tree of the test vectors
"""
import hashlib
import os
import stat
import struct
import sys

CACHES = {b".cache", b".vite", b".vite-temp", b".vitest", b".turbo"}
TYPES = {
    stat.S_IFREG: b"f", stat.S_IFDIR: b"d", stat.S_IFLNK: b"l", stat.S_IFIFO: b"p",
    stat.S_IFSOCK: b"s", stat.S_IFCHR: b"c", stat.S_IFBLK: b"b",
}


def counted(data):
    return struct.pack("<I", len(data)) + data


def xattrs(path):
    names = []
    for name in os.listxattr(path, follow_symlinks=False):
        if name.startswith(("user.", "system.posix_acl_")) or name == "security.capability":
            names.append(os.fsencode(name))
    data = b"".join(counted(n) + counted(os.getxattr(path, n, follow_symlinks=False))
                    for n in sorted(names))
    return b"\1" + hashlib.sha256(data).digest() if names else b"\0"


def entry(path, name):
    st = os.lstat(path)
    kind = TYPES[stat.S_IFMT(st.st_mode)]
    mode = 0 if kind == b"l" else stat.S_IMODE(st.st_mode)
    portable = counted(name) + kind + bytes([kind == b"f" and bool(mode & 0o100)])
    if kind == b"f":
        with open(path, "rb") as f:
            data = f.read()
        portable += struct.pack("<Q", len(data)) + hashlib.sha256(data).digest()
    elif kind == b"l":
        portable += counted(os.readlink(path))
    extra = struct.pack("<I", mode) + (xattrs(path) if kind in b"fd" else b"\0")
    return portable, portable + extra


def walk(path, name, top):
    yield entry(path, name)
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        return
    for child in sorted(os.listdir(path)):
        below = os.path.join(path, child)
        if top and child in CACHES and stat.S_ISDIR(os.lstat(below).st_mode):
            continue
        yield from walk(below, name + b"/" + child if name else child, False)


def digests(path):
    fingerprint = hashlib.sha256(b"sbox tree fingerprint 1\n")
    local = hashlib.sha256(b"sbox tree local 1\n")
    for portable, whole in walk(path, b"", True):
        fingerprint.update(portable)
        local.update(whole)
    return fingerprint.hexdigest(), local.hexdigest()


def make(top):
    """A tree with one of each kind that an ordinary user can make."""
    def put(name, data, mode):
        path = os.path.join(top, name)
        with open(path, "wb") as f:
            f.write(data)
        os.chmod(path, mode)

    for name in [b"", b"a", b"a/node_modules", b"a/node_modules/b", b"a-b", b"empty", b"links", b".cache"]:
        os.makedirs(os.path.join(top, name), exist_ok=True)
        os.chmod(os.path.join(top, name), 0o755)
    put(b"a/package.json", b'{"name":"a","version":"1.0.0"}\n', 0o644)
    put(b"a/node_modules/b/package.json", b'{"name":"b","version":"2.0.0"}\n', 0o640)
    put(b"a/run", b"#!/bin/sh\n", 0o755)
    put(b"a/odd\xff\n name", b"", 0o600)
    put(b"a-b/setuid", b"x", 0o4711)
    put(b".package-lock.json", b"{}", 0o644)
    put(b".cache/not-recorded", b"x", 0o644)
    put(b"a/attr", b"attributes\n", 0o644)
    os.setxattr(os.path.join(top, b"a/attr"), "user.b", b"2")
    os.setxattr(os.path.join(top, b"a/attr"), "user.a", b"")
    os.symlink(b"../a/run", os.path.join(top, b"links/link"))
    os.symlink(b"nowhere", os.path.join(top, b"dangling"))
    os.mkfifo(os.path.join(top, b"fifo"), 0o644)
    os.chmod(os.path.join(top, b"fifo"), 0o644)


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--make":
        make(os.fsencode(arguments[1]))
    elif len(arguments) == 1:
        print("fingerprint %s\nlocal %s" % digests(os.fsencode(arguments[0])))
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
