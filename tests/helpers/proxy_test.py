#!/usr/bin/python3
"""sbox-proxy alone, against servers that misbehave: what no well-behaved client or server shows.

    proxy_test.py SBOX-PROXY [NAME…]     one line a test; exit status 1 when one failed
"""
import contextlib
import os
import socket
import struct
import sys
import threading
import time

from proxy_driver import Proxy, Refused

PROGRAM = sys.argv[1]


class Server:
    """Answers each connection with `serve(stream, nth)`, on the loopback."""

    def __init__(self, serve):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.at = f"127.0.0.1:{self.port}"
        self.serve = serve
        self.heads = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(stream,), daemon=True).start()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes accept, which keeps a closed one alive
        self.listener.close()

    def one(self, stream):
        with contextlib.suppress(OSError), stream:
            self.serve(self, stream)

    def head(self, stream):
        head = read_head(stream)
        self.heads.append(head)
        return head


def read_head(stream):
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        byte = stream.recv(1)
        if not byte:
            raise OSError(f"ended after {data!r}")
        data += byte
    return data


def read_all(stream):
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while part := stream.recv(65536):
            data += part
    return data


def connect(to):
    stream = socket.create_connection(to, 20)
    stream.settimeout(20)
    return stream


def ask(proxy, text):
    """All that comes back for these bytes."""
    with connect(proxy.http) as stream:
        stream.sendall(text)
        return read_all(stream)


def get(host, path="/", extra="", version="1.1"):
    return f"GET http://{host}{path} HTTP/{version}\r\nHost: {host}\r\n{extra}\r\n".encode()


def answer(body, fields="", status="200 OK"):
    return f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def reply_with(data):
    def serve(server, stream):
        server.head(stream)
        stream.sendall(data)
    return serve


def tunnel(proxy, to):
    stream = connect(proxy.http)
    stream.sendall(f"CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n".encode())
    assert b" 200 " in read_head(stream)
    return stream


def same(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def holds(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in {text!r}"


def lacks(text, *parts):
    for part in parts:
        assert part not in text, f"{part!r} is in {text!r}"


# -- requests in absolute form -------------------------------------------------------------------------


def one_connection_two_hosts():
    """Each request has a connection of its own to its own server, and is decided on its own."""
    one, two = (Server(reply_with(answer(text))) for text in ("first", "second"))
    with Proxy(PROGRAM, [one.at, two.at]) as proxy, connect(proxy.http) as stream:
        stream.sendall(get(one.at) + get(two.at) + get("127.0.0.1:1"))
        text = read_all(stream)
        same(text.count(b"HTTP/1.1 200 OK"), 2)
        assert text.index(b"first") < text.index(b"second") < text.index(b"403 Forbidden")
        same((len(one.heads), len(two.heads)), (1, 1))
        holds(one.heads[0], f"GET / HTTP/1.1\r\nHost: {one.at}\r\n".encode(), b"Connection: close")
        lacks(two.heads[0], one.at.encode())


def hop_by_hop():
    """What is between the client and the proxy stays there, both ways."""
    server = Server(reply_with(answer("x", "Keep-Alive: timeout=5\r\nConnection: x-inner\r\nX-Inner: 1\r\nX-End: 2\r\n")))
    with Proxy(PROGRAM, [server.at]) as proxy:
        extra = "Proxy-Authorization: Basic abc\r\nProxy-Connection: keep-alive\r\nX-Hop: 1\r\nX-End: 2\r\n" \
            "Connection: close, x-hop\r\nTE: trailers\r\n"
        text = ask(proxy, get(server.at, "/p?q", extra))
        holds(server.heads[0], b"GET /p?q HTTP/1.1\r\n", b"X-End: 2\r\n")
        lacks(server.heads[0], b"Proxy-", b"X-Hop", b"TE:", b"http://")
        holds(text, b"X-End: 2", b"Connection: close", b"\r\n\r\nx")
        lacks(text, b"X-Inner", b"Keep-Alive: t")


def bodies():
    """By length, in chunks, until the end; requests and answers; 100 Continue on the way."""
    def serve(server, stream):
        head = server.head(stream)
        if b"100-continue" in head:
            stream.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        got = b""
        if b"Content-Length: 5" in head:
            got = stream.recv(5, socket.MSG_WAITALL)
        elif b"chunked" in head:
            while not got.endswith(b"0\r\n\r\n"):
                got += stream.recv(100)
        stream.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(got), got))
    server = Server(serve)
    with Proxy(PROGRAM, [server.at]) as proxy, connect(proxy.http) as stream:
        stream.sendall(get(server.at, extra="Content-Length: 5\r\nExpect: 100-continue\r\n").replace(b"GET", b"POST"))
        holds(read_head(stream), b"100 Continue")
        stream.sendall(b"hello")
        holds(read_head(stream), b"chunked", b"keep-alive")
        same(stream.recv(15, socket.MSG_WAITALL), b"5\r\nhello\r\n0\r\n\r\n")
    with Proxy(PROGRAM, [server.at]) as proxy:
        chunks = b"3;x=y\r\nabc\r\n0\r\n\r\n"
        text = ask(proxy, get(server.at, extra="Transfer-Encoding: chunked\r\nConnection: close\r\n") + chunks)
        holds(text, b"3;x=y\r\nabc\r\n0\r\n\r\n")


def until_the_end():
    server = Server(reply_with(b"HTTP/1.0 200 OK\r\n\r\nto the end"))
    with Proxy(PROGRAM, [server.at]) as proxy:
        text = ask(proxy, get(server.at))
        holds(text, b"Connection: close\r\n\r\nto the end")


def old_client():
    """HTTP/1.0 is asked of the server, too, and chunks in answer to it are not passed on."""
    server = Server(reply_with(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))
    with Proxy(PROGRAM, [server.at]) as proxy:
        holds(ask(proxy, get(server.at, version="1.0")), b" 502 ")
        holds(server.heads[0], b" HTTP/1.0\r\n")


def bad_answers():
    """502 for what is not understood; a cut answer ends with a reset, not like a complete one."""
    for bad in (b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
                b"HTTP/1.1 200 OK\r\n folded\r\n\r\n", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
                b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70000):
        server = Server(reply_with(bad))
        with Proxy(PROGRAM, [server.at]) as proxy:
            holds(ask(proxy, get(server.at)), b"HTTP/1.1 502 Bad Gateway\r\nX-Sbox-Reason: failed")
    server = Server(reply_with(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"))
    with Proxy(PROGRAM, [server.at]) as proxy, connect(proxy.http) as stream:
        stream.sendall(get(server.at))
        try:
            read_head(stream)
            while stream.recv(100):
                pass
            raise AssertionError("a cut answer ended like a complete one")
        except ConnectionResetError:
            pass


def upgrade():
    """After 101 the connection is a tunnel, also for what came with it."""
    def serve(server, stream):
        server.head(stream)
        stream.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nfirst")
        while data := stream.recv(100):
            stream.sendall(data)
    server = Server(serve)
    with Proxy(PROGRAM, [server.at]) as proxy, connect(proxy.http) as stream:
        stream.sendall(get(server.at, extra="Connection: upgrade\r\nUpgrade: echo\r\n"))
        holds(read_head(stream), b" 101 ", b"Upgrade: echo")
        same(stream.recv(5, socket.MSG_WAITALL), b"first")
        stream.sendall(b"echoed")
        same(stream.recv(6, socket.MSG_WAITALL), b"echoed")
        stream.shutdown(socket.SHUT_WR)
        same(stream.recv(1), b"")


def head_requests():
    server = Server(reply_with(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"))
    with Proxy(PROGRAM, [server.at]) as proxy:
        request = get(server.at, extra="Connection: close\r\n").replace(b"GET", b"HEAD")
        holds(ask(proxy, request), b"Content-Length: 1000")
        same(proxy.hear().verdict, "allowed")


def refusals():
    server = Server(reply_with(answer("x")))
    with Proxy(PROGRAM, [server.at]) as proxy:
        holds(ask(proxy, get("other.test")), b" 403 ", b"X-Sbox-Reason: host-not-listed")
        holds(ask(proxy, b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n"), b" 403 ", b"port-not-listed")
        holds(ask(proxy, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), b" 400 ", b"not-understood")
        holds(ask(proxy, get(server.at, extra="X: " + "x" * 70000 + "\r\n")), b" 431 ")
        holds(ask(proxy, b"\x16\x03\x01 TLS to the proxy\r\n\r\n"), b" 400 ")
        server.stop()
        holds(ask(proxy, get(server.at)), b" 502 ")
        same({c.verdict for c in (proxy.hear() for _ in range(6))}, {"name", "port", "request", "failed"})


# -- tunnels -------------------------------------------------------------------------------------------


def tunnel_both_ways():
    """The server speaks first, each side closes its half, nothing is lost."""
    def serve(_, stream):
        stream.sendall(b"welcome")
        stream.sendall(b"%d" % len(read_all(stream)))
    server = Server(serve)
    with Proxy(PROGRAM, [server.at]) as proxy, tunnel(proxy, server.at) as stream:
        same(stream.recv(7, socket.MSG_WAITALL), b"welcome")
        stream.sendall(b"x" * 3000000)
        stream.shutdown(socket.SHUT_WR)
        same(read_all(stream), b"3000000")
        stream.close()
        told = proxy.hear()
        same((told.verdict, told.way, told.bytes_out, told.bytes_in), ("allowed", "connect", 3000000, 14))


def words_with_the_head():
    """What a client sends before it has the answer to CONNECT goes through the tunnel."""
    server = Server(lambda _, stream: stream.sendall(stream.recv(5, socket.MSG_WAITALL)))
    with Proxy(PROGRAM, [server.at]) as proxy:
        text = ask(proxy, f"CONNECT {server.at} HTTP/1.1\r\nHost: {server.at}\r\n\r\nearly".encode())
        assert text.endswith(b"\r\n\r\nearly"), text


def resets_pass():
    def serve(_, stream):
        stream.recv(1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    server = Server(serve)
    with Proxy(PROGRAM, [server.at]) as proxy, tunnel(proxy, server.at) as stream:
        stream.sendall(b"x")
        try:
            stream.recv(1)
            raise AssertionError("the server's reset came as an end")
        except ConnectionResetError:
            pass


def slow_readers_are_bounded():
    def serve(_, stream):
        while True:
            stream.sendall(bytes(1 << 16))
    server = Server(serve)
    with Proxy(PROGRAM, [server.at]) as proxy:
        before = proxy.memory_kb()
        streams = [tunnel(proxy, server.at) for _ in range(600)]
        time.sleep(3)
        grown = proxy.memory_kb() - before
        assert grown < 64 * 1024, f"{grown} KB"
        for stream in streams:
            stream.close()


# -- an upstream proxy ---------------------------------------------------------------------------------


def upstream_speaks_at_once():
    """A server behind the upstream whose first words come in one packet with the answer to CONNECT."""
    def serve(server, stream):
        server.head(stream)
        stream.sendall(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n220 welcome")
        stream.recv(1)
    server = Server(serve)
    url = f"http://user:p%40ss@{server.at}"
    with Proxy(PROGRAM, ["far.test:22"], upstream_https=url) as proxy, tunnel(proxy, "far.test:22") as stream:
        same(stream.recv(11, socket.MSG_WAITALL), b"220 welcome")
        same(server.heads[0], b"CONNECT far.test:22 HTTP/1.1\r\nHost: far.test:22\r\n"
             b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n")


def upstream_gets_absolute_form():
    upstream, near = Server(reply_with(answer("upstream"))), Server(reply_with(answer("near")))
    with Proxy(PROGRAM, ["far.test", near.at], upstream_http=f"http://{upstream.at}") as proxy:
        holds(ask(proxy, get("far.test", "/x", "Connection: close\r\n")), b"upstream")
        holds(upstream.heads[0], b"GET http://far.test/x HTTP/1.1\r\nHost: far.test\r\n")
        # an address of this machine's own means another machine to the upstream
        holds(ask(proxy, get(near.at, "/y", "Connection: close\r\n")), b"near")
        holds(near.heads[0], b"GET /y HTTP/1.1\r\n")


# -- sbox and init -------------------------------------------------------------------------------------


def rules_are_refused():
    for rule in ("*", "com", "a b", ""):
        try:
            with Proxy(PROGRAM, ["fine.test", rule]):
                raise AssertionError(f"{rule!r} was taken")
        except Refused:
            pass


def a_port_in_use():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        try:
            with Proxy(PROGRAM, ["fine.test"], publish=[("127.0.0.1", port, 80)]):
                raise AssertionError("a port that is in use was published")
        except Refused as refused:
            holds(str(refused), str(port))


def publishing():
    """A connection from outside is carried over a socket that came from inside."""
    server = Server(lambda _, stream: stream.sendall(b"inside " + stream.recv(4, socket.MSG_WAITALL)))
    with socket.create_server(("127.0.0.1", 0)) as found:
        outside = found.getsockname()[1]
    with Proxy(PROGRAM, [], publish=[("127.0.0.1", outside, server.port)]) as proxy:
        same({proxy.serve_sockets() for _ in range(2)}, {(4, 4), (6, 4)})
        with connect(("127.0.0.1", outside)) as stream:
            stream.sendall(b"ping")
            same(read_all(stream), b"inside ping")
        told = proxy.hear()
        same((told.verdict, told.way, told.port), ("allowed", "published", outside))
        server.stop()
        with connect(("127.0.0.1", outside)) as stream:
            same(read_all(stream), b"")
        same(proxy.hear().verdict, "failed")


def host_ports():
    server = Server(lambda _, stream: stream.sendall(b"host"))
    with Proxy(PROGRAM, [], host_ports=[server.port]) as proxy, connect(proxy.host_ports[0]) as stream:
        same(read_all(stream), b"host")


def told_and_counted():
    """What is refused over and over is told a few times, then counted."""
    with Proxy(PROGRAM, ["fine.test"]) as proxy:
        for _ in range(100):
            holds(ask(proxy, get("other.test")), b" 403 ")
        same(proxy.end(), 0)
        assert len(proxy.connections) < 30, len(proxy.connections)
        same(sum(c.count for c in proxy.connections), 100)


def nobody_listens():
    """A sbox that does not read its messages holds nobody up."""
    with Proxy(PROGRAM, ["fine.test"]) as proxy:
        for number in range(3000):
            holds(ask(proxy, get(f"n{number}.test")), b" 403 ")
        same(proxy.end(), 0)
        same(sum(c.count for c in proxy.connections), 3000)


def ends_with_sbox():
    server = Server(lambda _, stream: stream.recv(1))
    with Proxy(PROGRAM, [server.at]) as proxy, tunnel(proxy, server.at) as stream:
        same(proxy.end(), 0)
        same([(c.verdict, c.host, c.port) for c in proxy.connections], [("allowed", "127.0.0.1", server.port)])
        same(read_all(stream), b"")


def resolver():
    """Synthetic addresses for what is listed, NXDOMAIN for the rest, over UDP and TCP; no IPv6 here."""
    def question(name, kind):
        labels = b"".join(bytes([len(part)]) + part for part in name.encode().split(b"."))
        return struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)

    with Proxy(PROGRAM, ["fine.test"]) as proxy, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(20)
        for name, kind, code, address in (("fine.test", 1, 0, b"\xc6\x12\x01\x00"), ("fine.test", 28, 0, b""),
                                          ("a.fine.test", 1, 0, b"\xc6\x12\x01\x01"), ("other.test", 1, 3, b"")):
            stream.sendto(question(name, kind), proxy.dns)
            reply = stream.recv(2000)
            same(reply[3] & 15, code)
            same(reply[7], 1 if address else 0)
            holds(reply, address)
            with connect(proxy.dns_tcp) as over:
                over.sendall(struct.pack("!H", len(question(name, kind))) + question(name, kind))
                same(over.recv(2 + len(reply), socket.MSG_WAITALL)[2:], reply)
        # and the address, named to the proxy, stands for the name
        holds(ask(proxy, b"CONNECT 198.18.1.0:99 HTTP/1.1\r\nHost: 198.18.1.0:99\r\n\r\n"), b"fine.test:99")


TESTS = [one_connection_two_hosts, hop_by_hop, bodies, until_the_end, old_client, bad_answers, upgrade, head_requests,
         refusals, tunnel_both_ways, words_with_the_head, resets_pass, slow_readers_are_bounded,
         upstream_speaks_at_once, upstream_gets_absolute_form, rules_are_refused, a_port_in_use, publishing,
         host_ports, told_and_counted, nobody_listens, ends_with_sbox, resolver]


def main():
    failed = 0
    wanted = sys.argv[2:]
    for test in TESTS:
        if wanted and test.__name__ not in wanted:
            continue
        try:
            test()
            print("ok", test.__name__, flush=True)
        except Exception as error:  # pylint: disable=broad-exception-caught
            failed += 1
            print("failed", test.__name__, type(error).__name__, error, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    os._exit(main())
