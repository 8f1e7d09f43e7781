#!/usr/bin/python3
"""The authority for .test and .example: answers over UDP and TCP and writes each question down.

    dns.py LOG

A name without an entry has the address of the host that nobody allows, so that a look-up which should
never have been made succeeds and is seen.
"""
import asyncio
import ipaddress
import itertools
import socket
import struct
import sys

A, CNAME, AAAA = 1, 5, 28
ELSEWHERE = ("203.0.113.66", "2001:db8:1::66")

# Answers by name; "*.name" holds for every name below. CNAME by a leading "=".
ZONE = {
    "allowed.test": ("203.0.113.10", "2001:db8:1::10"),
    "*.allowed.test": ("203.0.113.10", "2001:db8:1::10"),
    "other.test": ("203.0.113.20", "2001:db8:1::20"),
    "git.test": ("203.0.113.30",),
    "v4only.test": ("203.0.113.10",),
    "v6only.test": ("2001:db8:1::10",),
    "xn--bcher-kva.example": ("203.0.113.10",),
    "cname.test": ("=allowed.test",),
    # what nobody may be led to (E5)
    "loop.test": ("127.0.0.1",),
    "loop6.test": ("::1",),
    "ten.test": ("10.1.2.3",),
    "link.test": ("169.254.7.7",),
    "meta.test": ("169.254.169.254",),
    "cgnat.test": ("100.64.0.1",),
    "ula.test": ("fd00::1",),
    "mapped.test": ("::ffff:127.0.0.1",),
    "nat64.test": ("64:ff9b::a9fe:a9fe",),
    "zero.test": ("0.0.0.0",),
    "bench.test": ("198.18.0.1",),
    "multi.test": ("224.0.0.1",),
    "own.test": ("192.0.2.10", "2001:db8::10"),
    "mixed.test": ("127.0.0.1", "203.0.113.10"),
    "cname-loop.test": ("=loop.test",),
    "dead.test": ("203.0.113.254",),
    "absent.test": (),
}
TURNS = itertools.count()


def addresses(name, kind):
    if name == "rebind.test" and kind == A:  # another answer every time, public first
        return ("203.0.113.10",) if next(TURNS) % 2 == 0 else ("127.0.0.1",)
    if name == "rebind.test":
        return ()
    if name in ZONE:
        return ZONE[name]
    parent = name.partition(".")[2]
    return ZONE.get("*." + parent, ELSEWHERE)


def read_question(packet):
    """Name, type, and the end of the question."""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1"))
        at += 1 + packet[at]
    kind, _ = struct.unpack_from("!HH", packet, at + 1)
    return ".".join(labels).lower(), kind, at + 5


def encode_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def record(owner, kind, data):
    return encode_name(owner) + struct.pack("!HHIH", kind, 1, 0, len(data)) + data


def answers(name, kind):
    found = addresses(name, kind)
    if found and found[0].startswith("="):
        target = found[0][1:]
        return [record(name, CNAME, encode_name(target))] + answers(target, kind)
    parsed = [ipaddress.ip_address(a) for a in found]
    wanted = {A: 4, AAAA: 6}.get(kind)
    return [record(name, kind, a.packed) for a in parsed if a.version == wanted]


class Authority(asyncio.DatagramProtocol):
    def __init__(self, log):
        self.log = log

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, peer):
        self.transport.sendto(self.respond(data, "udp"), peer)

    def respond(self, packet, over):
        name, kind, end = read_question(packet)
        print(f"dns {over} {name} {kind}", file=self.log, flush=True)
        found = answers(name, kind)
        code = 3 if name == "absent.test" else 0
        head = packet[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, len(found), 0, 0)
        return head + packet[12:end] + b"".join(found)

    async def serve_stream(self, reader, writer):
        try:
            while True:
                (size,) = struct.unpack("!H", await reader.readexactly(2))
                reply = self.respond(await reader.readexactly(size), "tcp")
                writer.write(struct.pack("!H", len(reply)) + reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main():
    loop = asyncio.get_running_loop()
    authority = Authority(open(sys.argv[1], "a", buffering=1))
    # bound to the address, so that answers come from it
    await loop.create_datagram_endpoint(lambda: authority, ("192.0.2.53", 53), family=socket.AF_INET)
    await asyncio.start_server(authority.serve_stream, "192.0.2.53", 53)
    await asyncio.Event().wait()


asyncio.run(main())
