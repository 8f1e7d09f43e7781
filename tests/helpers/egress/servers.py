#!/usr/bin/python3
"""What can be reached in the egress tests' world. Each server answers on every address there is, says
which one was dialled, and writes down who came.

    servers.py internet|loopback DIR
"""
import asyncio
import base64
import logging
import os
import signal
import ssl
import sys

import websockets

CHUNK = bytes(256 * 1024)
UPSTREAM_USER = "proxyuser:sbox-test-upstream-password"
EVERYWHERE = ["0.0.0.0", "::"]
HERE = ["127.0.0.1", "::1"]


class World:
    def __init__(self, directory):
        self.directory = directory
        self.log = open(os.path.join(directory, "contacts.log"), "a", buffering=1)

    def note(self, *words):
        print(*words, file=self.log, flush=True)

    def arrived(self, service, writer):
        address, port = writer.get_extra_info("sockname")[:2]
        self.note(service, address, port)
        return f"{address} {port}"


def guarded(serve):
    """A client that goes away is nobody's error."""
    async def wrapper(self, reader, writer):
        try:
            await serve(self, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, TimeoutError):
            pass
        finally:
            writer.close()
    return wrapper


class Plain(World):
    @guarded
    async def echo(self, reader, writer):
        self.arrived("echo", writer)
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    @guarded
    async def banner(self, reader, writer):
        """Speaks first, as SMTP and MySQL do, then says back what it hears."""
        self.arrived("banner", writer)
        writer.write(b"220 outside speaks first\r\n")
        while data := await reader.readline():
            writer.write(b"heard " + data)
            await writer.drain()

    @guarded
    async def count(self, reader, writer):
        """Answers when the client has closed its half: the number of bytes."""
        self.arrived("count", writer)
        total = 0
        while data := await reader.read(1 << 20):
            total += len(data)
        writer.write(b"%d\n" % total)
        await writer.drain()

    @guarded
    async def upstream(self, reader, writer):
        """The proxy of a company: CONNECT with a password, every name leads to allowed.test's host."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split("\r\n")[0].split(" ")
        expected = "basic " + base64.b64encode(UPSTREAM_USER.encode()).decode().lower()
        known = any(line.lower() == f"proxy-authorization: {expected}" for line in head.split("\r\n"))
        self.note("upstream", method, target, "known" if known else "stranger")
        if not known:
            writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        port = int(target.rpartition(":")[2]) if method == "CONNECT" else 80
        far_reader, far_writer = await asyncio.open_connection("203.0.113.10", port)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Established\r\n\r\n")
        else:
            far_writer.write(head.encode("latin-1"))
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))


async def pump(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


class Web(Plain):
    @guarded
    async def http(self, reader, writer):
        tls = writer.get_extra_info("ssl_object")
        at = self.arrived("https" if tls else "http", writer)
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, version = head[0].split(" ")
            fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
            name = getattr(tls, "asked", None)
            self.note("request", method, path, fields.get("host", "-"), "sni", name or "-")
            text = f"at {at} host {fields.get('host', '-')} sni {name or '-'}\n".encode()
            await self.answer(reader, writer, method, path, fields, text)
            if version == "HTTP/1.0" or fields.get("connection", "").lower() == "close":
                return

    async def answer(self, reader, writer, method, path, fields, text):
        size = int(fields.get("content-length", 0))
        if path.startswith("/bytes/"):
            await send_bytes(writer, int(path.split("/")[2]))
        elif path.startswith("/slow"):
            await send_slowly(writer, text)
        elif path.startswith("/git/"):
            await self.git(reader, writer, method, path, fields)
        else:
            while size > 0:
                size -= len(await reader.readexactly(min(size, 1 << 16)))
            body = text if method != "HEAD" else b""
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + body)
            await writer.drain()

    async def git(self, reader, writer, method, path, fields):
        """git http-backend, as a web server runs it."""
        path, _, query = path.partition("?")
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.directory, "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query,
            "CONTENT_TYPE": fields.get("content-type", ""), "HTTP_CONTENT_ENCODING": fields.get("content-encoding", ""),
            "CONTENT_LENGTH": fields.get("content-length", "0"),
            "GIT_PROTOCOL": fields.get("git-protocol", ""), "REMOTE_ADDR": "192.0.2.10",
        }
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        backend = await asyncio.create_subprocess_exec(
            "git", "http-backend", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment)
        reply, _ = await backend.communicate(body)
        head, _, content = reply.partition(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n%s\r\nContent-Length: %d\r\n\r\n" % (head, len(content)) + content)
        await writer.drain()


async def send_bytes(writer, total):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % total)
    while total > 0:
        writer.write(CHUNK[:total])
        total -= len(CHUNK)
        await writer.drain()


async def send_slowly(writer, text):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text))
    for byte in text:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.05)


async def websocket(connection):
    async for message in connection:
        await connection.send(message)


def server_tls(directory):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(directory, "server.pem"), os.path.join(directory, "server.key"))

    def remember(tls, name, _):
        tls.asked = name
    context.sni_callback = remember
    return context


async def main():
    profile, directory = sys.argv[1:]
    world = Web(directory)
    where = EVERYWHERE if profile == "internet" else HERE
    tls = server_tls(directory)
    logging.disable()  # asyncio's complaints about clients that go away

    async def listen(serve, ports, **options):
        for port in ports:
            await asyncio.start_server(serve, where, port, backlog=4096, limit=1 << 20, **options)

    await listen(world.http, (80, 8080))
    await listen(world.http, (443, 8443), ssl=tls)
    await listen(world.banner, (25,) if profile == "internet" else (2525,))
    await listen(world.echo, (7,) if profile == "internet" else (5432,))
    if profile == "internet":
        await listen(world.count, (9007,))
        await listen(world.upstream, (3128,))
        await websockets.serve(websocket, where, 8081, ping_interval=None)
        await websockets.serve(websocket, where, 8444, ssl=tls, ping_interval=None)
    open(os.path.join(directory, profile + ".ready"), "w").close()
    await asyncio.Event().wait()


signal.signal(signal.SIGPIPE, signal.SIG_IGN)
asyncio.run(main())
