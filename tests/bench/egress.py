"""The group "egress" of tests/bench/run: one and eight streams, and new connections, through CONNECT.

All on the loopback of this machine: pull -> proxy -> source. Peers run on the host; for sbox the client
runs in the sandbox, so its packets cross a veth pair as well. The commands take turns, medians are
compared; pull measures from connect(2) to the last byte, so a sandbox's start does not count.
"""
import contextlib
import dataclasses
import os
import shutil
import socket
import statistics
import subprocess
import time

STREAM_MB, SMOKE_MB = 1600, 8  # in all, so that eight streams share it
CONNECTIONS, SMOKE_CONNECTIONS = 500, 5


@dataclasses.dataclass
class Proxy:
    name: str
    address: str  # as pull takes it
    prefix: tuple = ()


def printed_port(stack, *argv):
    process = stack.enter_context(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
    stack.callback(process.kill)
    return int(process.stdout.readline())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(port, process):
    for _ in range(400):
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        if process.poll() is not None:
            raise SystemExit(f"bench: {process.args[0]} ended at once")
        time.sleep(0.05)
    raise SystemExit(f"bench: {process.args[0]} never listened")


def start_peer(stack, directory, program, configuration, *argv):
    """A peer that is not installed is left out, and the output says so."""
    path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if path is None:
        return None
    port = free_port()
    file = directory / f"{program}.conf"
    file.write_text(configuration.format(port=port, directory=directory))
    process = subprocess.Popen([path, *argv, str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.kill)
    wait_for_port(port, process)
    return Proxy(program, f"127.0.0.1:{port}")


TINYPROXY = """Port {port}
Listen 127.0.0.1
Timeout 60
MaxClients 200
LogLevel Critical
LogFile "{directory}/tinyproxy.log"
PidFile "{directory}/tinyproxy.pid"
Allow 127.0.0.1
"""
SQUID = """http_port 127.0.0.1:{port}
http_access allow all
cache deny all
access_log none
cache_log {directory}/squid.log
pid_filename {directory}/squid.pid
coredump_dir {directory}
netdb_filename none
shutdown_lifetime 0 seconds
"""


def proxies(stack, tools, directory, source, sbox):
    port = printed_port(stack, tools["relay"], "127.0.0.1", str(source))
    found = [Proxy("bare epoll relay", f"127.0.0.1:{port}")]
    for peer in (start_peer(stack, directory, "tinyproxy", TINYPROXY, "-d", "-c"),
                 start_peer(stack, directory, "squid", SQUID, "-N", "-f")):
        if peer:
            found.append(peer)
    if sbox:
        prefix = (str(sbox), "run", "-q", "-o", f"127.0.0.1:{source}")
        found.append(Proxy("sbox", "198.18.0.1:3128", prefix))
    return found


def number(argv, workspace, home):
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(argv, cwd=workspace, env=environment, text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(map(str, argv))}: exit status {done.returncode}")
    return float(done.stdout)


def take_turns(rounds, commands, workspace, home):
    """name -> median; a first round fills the caches."""
    samples = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, argv in commands.items():
            value = number(argv, workspace, home)
            if turn > 0:
                samples[name].append(value)
    return {name: statistics.median(values) for name, values in samples.items()}


def rows_of(medians, limits):
    rows = {name: {"value": value} for name, value in medians.items()}
    for name, row in rows.items():
        row["ratio_to_relay"] = row["value"] / medians["bare epoll relay"]
    for against, text, ratio, holds in limits:
        if "sbox" in rows and against in medians:
            rows["sbox"].setdefault("targets", []).append({"target": text, "ratio": ratio(), "ok": holds(ratio())})
    return rows


def streams(count, megabytes, rounds, found, target, workspace, home):
    commands = {p.name: [*p.prefix, "./pull", "stream", p.address, target, str(count), str(megabytes // count)]
                for p in found}
    m = take_turns(rounds, commands, workspace, home)
    limits = [(name, f">= {least} x {name}", lambda name=name: m["sbox"] / m[name], lambda r, least=least: r >= least)
              for name, least in (("bare epoll relay", 0.95), ("tinyproxy", 1), ("squid", 1))]
    title = f"egress, {count} stream{'s' if count > 1 else ''} through CONNECT, MB/s"
    return {"name": "egress", "title": title, "rounds": rounds, "cases": rows_of(m, limits)}


def connections(count, rounds, found, target, workspace, home):
    commands = {"no proxy": ["./pull", "connect", "-", target, str(count)]}
    commands |= {p.name: [*p.prefix, "./pull", "connect", p.address, target, str(count)] for p in found}
    m = take_turns(rounds, commands, workspace, home)

    def added(name):
        return (m["sbox"] - m["no proxy"]) / (m[name] - m["no proxy"])
    limits = [("bare epoll relay", "<= 1.2 x what the bare relay adds", lambda: added("bare epoll relay"),
               lambda r: r <= 1.2)]
    return {"name": "egress", "title": "egress, a new connection and a byte, microseconds", "rounds": rounds,
            "cases": rows_of(m, limits)}


def measure(tools, workspace, home, directory, rounds, smoke):
    """The group's three tables."""
    directory.mkdir(exist_ok=True)
    shutil.copy(tools["pull"], workspace / "pull")
    megabytes, count = (SMOKE_MB, SMOKE_CONNECTIONS) if smoke else (STREAM_MB, CONNECTIONS)
    with contextlib.ExitStack() as stack:
        source = printed_port(stack, tools["source"])
        target = f"127.0.0.1:{source}"
        found = proxies(stack, tools, directory, source, tools.get("sbox"))
        common = (found, target, workspace, home)
        return [streams(1, megabytes, rounds, *common), streams(8, megabytes, rounds, *common),
                connections(count, rounds, *common)]


def print_group(result):
    print(f"\n{result['title']} ({result['rounds']} rounds)")
    print(f"  {'':30}{'median':>10}{'x relay':>9}  target")
    for name, row in result["cases"].items():
        verdicts = [f"{t['ratio']:.2f} {t['target']}: {'ok' if t['ok'] else 'MISS'}" for t in row.get("targets", [])]
        print(f"  {name:30}{row['value']:10.1f}{row['ratio_to_relay']:9.2f}  {'; '.join(verdicts)}".rstrip())
