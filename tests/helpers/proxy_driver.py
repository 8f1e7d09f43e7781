"""Starts sbox-proxy as sbox and init do, but with listeners on this machine's loopback: for tests of the
proxy alone. The messages are net/wire.h's.

    with Proxy(program, ["allowed.test"]) as proxy:
        stream = socket.create_connection(proxy.http)
        ...
    proxy.connections, proxy.notices     what it told until its end
"""
import array
import dataclasses
import socket
import struct
import subprocess

RULE, HOST_PORT, PUBLISH, UPSTREAM, OPTIONS, COMPILE, REFUSED, PORT, LITERAL, TEXT_OF, COMPILED, GATEWAY, READY, \
    CONNECTION, NOTICE = range(1, 16)
LISTENER, LISTENERS_END, LISTENING, SOCKETS_WANTED, SOCKET = range(1, 6)
KIND_PROXY, KIND_DNS_UDP, KIND_DNS_TCP, KIND_TRANSPARENT, KIND_HOST_PORT = range(5)
VERDICTS = ("allowed", "name", "port", "address", "sni", "request", "failed", "limit")
WAYS = ("connect", "http", "socks", "transparent", "dns", "published", "host-port")
ALLOW_PRIVATE = 1

HEAD = struct.Struct("=IiIHHB16s7x")  # type, code, flags, port, port2, address
CONNECTION_FORMAT = struct.Struct("=BBHiB16s7xQQQQI256s4x")
GATEWAY_FORMAT = struct.Struct("=IBBHI")
TEXT = 512
MESSAGE_SIZE = HEAD.size + TEXT


@dataclasses.dataclass
class Connection:
    verdict: str
    way: str
    host: str
    port: int
    error: int
    bytes_out: int
    bytes_in: int
    count: int


def message(kind, text=b"", flags=0, port=0, port2=0, address=None):
    family, data = (0, b"") if address is None else (6, socket.inet_pton(socket.AF_INET6, address)) \
        if ":" in address else (4, socket.inet_aton(address))
    return HEAD.pack(kind, 0, flags, port, port2, family, data).ljust(HEAD.size, b"\0") + text.ljust(TEXT, b"\0")


class Refused(Exception):
    pass


class Proxy:
    def __init__(self, program, rules, *, allow_private=False, upstream_http=None, upstream_https=None, publish=(),
                 host_ports=(), wrap=(), answers=None):
        self.connections, self.notices, self.sockets = [], [], []
        self.ports, self.literals, self.texts = [], [], []
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen([*wrap, "bash", "-c", f'exec "$1" 3<&{theirs.fileno()} </dev/null', "bash", program],
                                        pass_fds=[theirs.fileno()])
        theirs.close()
        for rule in rules:
            self.control.send(message(RULE, rule.encode()))
        for port in host_ports:
            self.control.send(message(HOST_PORT, port=port))
        for address, outside, inside in publish:
            self.control.send(message(PUBLISH, address=address, port=outside, port2=inside))
        for url, port in ((upstream_http, 80), (upstream_https, 443)):
            if url:
                self.control.send(message(UPSTREAM, url.encode(), port=port))
        self.control.send(message(OPTIONS, flags=ALLOW_PRIVATE if allow_private else 0))
        self.control.send(message(COMPILE))
        self.hear_compiled()
        self.go(host_ports)

    def hear_compiled(self):
        while True:
            data = self.control.recv(MESSAGE_SIZE)
            if not data:
                raise Refused("ended")
            kind, code, _, port, _, family, address = HEAD.unpack(data[:HEAD.size])
            text = data[HEAD.size:].split(b"\0")[0].decode()
            if kind == COMPILED:
                return
            if kind == REFUSED:
                self.process.wait()
                raise Refused(text)
            if kind == PORT:
                self.ports.append(port)
            elif kind == LITERAL:
                self.literals.append(address[:4 if family == 4 else 16])
            else:
                self.texts.append(text)

    def go(self, host_ports):
        self.gateway, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        socket.send_fds(self.control, [message(GATEWAY)], [theirs.fileno()])
        theirs.close()
        self.gateway.settimeout(20)
        assert HEAD.unpack(self.control.recv(MESSAGE_SIZE)[:HEAD.size])[0] == READY
        self.http = self.listen(KIND_PROXY, socket.SOCK_STREAM)
        self.dns = self.listen(KIND_DNS_UDP, socket.SOCK_DGRAM)
        self.dns_tcp = self.listen(KIND_DNS_TCP, socket.SOCK_STREAM)
        self.host_ports = [self.listen(KIND_HOST_PORT, socket.SOCK_STREAM, port) for port in host_ports]
        self.gateway.send(GATEWAY_FORMAT.pack(LISTENERS_END, 0, 0, 0, 0))
        assert GATEWAY_FORMAT.unpack(self.gateway.recv(GATEWAY_FORMAT.size))[0] == LISTENING

    def listen(self, kind, how, port=0):
        with socket.socket(socket.AF_INET, how | socket.SOCK_NONBLOCK) as listener:
            listener.bind(("127.0.0.1", 0))
            if how == socket.SOCK_STREAM:
                listener.listen(4096)
            socket.send_fds(self.gateway, [GATEWAY_FORMAT.pack(LISTENER, kind, 4, port, 0)], [listener.fileno()])
            return listener.getsockname()

    def serve_sockets(self):
        """One request of the proxy for sockets of the sandbox."""
        kind, _, family, _, count = GATEWAY_FORMAT.unpack(self.gateway.recv(GATEWAY_FORMAT.size))
        assert kind == SOCKETS_WANTED
        for _ in range(count):
            with socket.socket(socket.AF_INET6 if family == 6 else socket.AF_INET,
                               socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as made:
                socket.send_fds(self.gateway, [GATEWAY_FORMAT.pack(SOCKET, 0, family, 0, 0)], [made.fileno()])
        return family, count

    def take(self, data):
        kind = HEAD.unpack(data[:HEAD.size])[0]
        if kind == NOTICE:
            self.notices.append(data[HEAD.size:].split(b"\0")[0].decode())
        if kind != CONNECTION:
            return
        verdict, way, port, error, _, _, _, _, out, into, count, host = \
            CONNECTION_FORMAT.unpack(data[HEAD.size:][:CONNECTION_FORMAT.size])
        self.connections.append(Connection(VERDICTS[verdict], WAYS[way], host.split(b"\0")[0].decode(), port, error,
                                           out, into, count))

    def hear(self, seconds=10):
        """The next message."""
        self.control.settimeout(seconds)
        self.take(self.control.recv(MESSAGE_SIZE))
        return self.connections[-1]

    def end(self):
        self.control.shutdown(socket.SHUT_WR)
        self.control.settimeout(10)
        while data := self.control.recv(MESSAGE_SIZE):
            self.take(data)
        return self.process.wait(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.process.poll() is None:
                self.end()
        finally:
            self.process.kill()
            self.process.wait()

    def memory_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
