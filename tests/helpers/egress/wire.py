#!/usr/bin/python3
"""Writes down each packet that leaves an interface: one line, protocol and destination.

    wire.py INTERFACE LOG

Of TCP only what opens a connection (SYN), and everything else by its protocol. Of a DNS question the
name is told, which is how a test sets a mark in the log: it looks up a name of its own.
"""
import os
import socket
import struct
import sys

IPV4, IPV6 = 0x0800, 0x86DD
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6"}


def question(payload):
    labels, at = [], 12
    while at < len(payload) and payload[at]:
        labels.append(payload[at + 1:at + 1 + payload[at]].decode("latin-1"))
        at += 1 + payload[at]
    return ".".join(labels).lower()


def network(kind, packet):
    """Protocol number, destination, and the transport's bytes."""
    if kind == IPV4:
        size = (packet[0] & 15) * 4
        return packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20]), packet[size:]
    if kind == IPV6:
        return packet[6], socket.inet_ntop(socket.AF_INET6, packet[24:40]), packet[40:]
    return None, f"ethertype {kind:#06x}", b""


def line(kind, packet):
    protocol, to, transport = network(kind, packet)
    name = PROTOCOLS.get(protocol, f"protocol {protocol}")
    if protocol not in (6, 17):
        return f"{name} {to}"
    (port,) = struct.unpack_from("!H", transport, 2)
    if protocol == 6:
        return f"tcp {to} {port}" if transport[13] & 0x12 == 0x02 else None
    return f"udp {to} {port}" + (f" {question(transport[8:])}" if port == 53 else "")


def main():
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    sniffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    sniffer.bind((sys.argv[1], 3))
    with open(sys.argv[2] + ".new", "w", buffering=1) as log:
        os.chmod(log.fileno(), 0o644)
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        while True:
            packet, (_, kind, way, *_) = sniffer.recvfrom(256)
            text = line(kind, packet) if way == socket.PACKET_OUTGOING else None
            if text:
                print(text, file=log)


main()
