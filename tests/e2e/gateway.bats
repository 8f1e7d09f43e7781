# The sandbox's side of the network: namespace, routes, listeners, what the command can do to them.
# The proxy is a stand-in that dials nobody (sbox-gateway): it says what was dialled.
load ../helpers/common
load ../helpers/attack

teardown()
{
    remove_targets
}

setup()
{
    setup_project
    GATEWAY=$SBOX_BIN_DIR/sbox-gateway
    # What a client of one line is told: "transparent 198.18.7.7 443", or errno's name.
    cat >dial.py <<'PY'
import errno, socket, sys
for target in sys.argv[1:]:
    host, port = target.rsplit("/", 1)
    try:
        with socket.create_connection((host, int(port)), 5) as s:
            print(target, s.recv(99).decode().strip())
    except TimeoutError:
        print(target, "TIMEOUT")
    except OSError as e:
        print(target, errno.errorcode.get(e.errno, e))
PY
}

# networked OPTION… -- RUN_ARGUMENTS…: sets $status, $output, $stderr
networked()
{
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    run --separate-stderr bare "$GATEWAY" "${options[@]}" run "$@"
}

@test "E8 E13: every address of the ranges and each literal is the gateway's, on the ports that are allowed" {
    networked --port=443 --port=5432 --literal=10.0.0.5 --literal=2001:db8::7 -- python3 dial.py \
        198.18.0.1/3128 198.18.0.1/443 198.18.1.0/443 198.19.255.254/5432 10.0.0.5/5432 \
        2001:2::1/443 2001:2:0:1::100/443 2001:2:0:ffff::1/5432 2001:db8::7/5432 ::ffff:198.18.1.0/443
    assert_status 0
    assert_equal "$output" "198.18.0.1/3128 proxy 198.18.0.1 3128
198.18.0.1/443 transparent 198.18.0.1 443
198.18.1.0/443 transparent 198.18.1.0 443
198.19.255.254/5432 transparent 198.19.255.254 5432
10.0.0.5/5432 transparent 10.0.0.5 5432
2001:2::1/443 transparent 2001:2::1 443
2001:2:0:1::100/443 transparent 2001:2:0:1::100 443
2001:2:0:ffff::1/5432 transparent 2001:2:0:ffff::1 5432
2001:db8::7/5432 transparent 2001:db8::7 5432
::ffff:198.18.1.0/443 transparent 198.18.1.0 443"
    assert_equal "$stderr" ""
}

@test "E8: everything else is answered at once: no route, or no listener" {
    networked --port=443 --literal=10.0.0.5 -- python3 dial.py 10.0.0.6/443 192.0.2.1/443 \
        169.254.169.254/80 2001:db8::8/443 64:ff9b::a00:5/443 198.18.0.1/22 198.18.1.0/3128 \
        198.18.1.0/53 10.0.0.5/22 2001:2:0:1::100/22 2001:2::1/3128 127.0.0.1/443 127.0.0.1/3128 \
        198.18.0.2/443
    assert_equal "$output" "10.0.0.6/443 EACCES
192.0.2.1/443 EACCES
169.254.169.254/80 EACCES
2001:db8::8/443 EACCES
64:ff9b::a00:5/443 EACCES
198.18.0.1/22 ECONNREFUSED
198.18.1.0/3128 ECONNREFUSED
198.18.1.0/53 ECONNREFUSED
10.0.0.5/22 ECONNREFUSED
2001:2:0:1::100/22 ECONNREFUSED
2001:2::1/3128 ECONNREFUSED
127.0.0.1/443 ECONNREFUSED
127.0.0.1/3128 ECONNREFUSED
198.18.0.2/443 ECONNREFUSED"
}

@test "literals that no route can lead to do no harm" {
    networked --port=443 --literal=127.0.0.1 --literal=127.0.0.53 --literal=::1 --literal=0.0.0.0 --literal=:: \
        --literal=255.255.255.255 --literal=224.0.0.1 --literal=ff02::1 --literal=fe80::1 \
        --literal=::ffff:10.0.0.5 --literal=198.18.0.2 --literal=2001:2::2 --literal=10.0.0.5 \
        --literal=10.0.0.5 --literal=169.254.169.254 -- \
        python3 dial.py 198.18.1.0/443 10.0.0.5/443 169.254.169.254/443 127.0.0.1/443 127.0.0.53/443
    assert_status 0
    assert_equal "$output" "198.18.1.0/443 transparent 198.18.1.0 443
10.0.0.5/443 transparent 10.0.0.5 443
169.254.169.254/443 transparent 169.254.169.254 443
127.0.0.1/443 ECONNREFUSED
127.0.0.53/443 ECONNREFUSED"
}

@test "names are asked of the gateway, by every client; addresses of both families count as configured" {
    networked --port=443 -- sh -c 'cat /etc/resolv.conf; getent ahosts allowed.test | cut -d" " -f1 | sort -u
        getent hosts localhost | cut -d" " -f1
        python3 -c "
import socket
for family in (socket.AF_INET, socket.AF_INET6):
    print(socket.getaddrinfo(\"allowed.test\", 443, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)[0][4][0])"
        python3 dial.py allowed.test/443'
    assert_output_has "nameserver 198.18.0.1"
    assert_output_has $'\n198.18.1.0\n2001:2:0:1::100\n' # from getent
    assert_output_has $'\n198.18.1.0\n2001:2:0:1::100\nallowed.test/443 transparent 2001:2:0:1::100 443'
    grep -q localhost /etc/hosts
    networked --port=443 -- cat /etc/hosts
    assert_equal "$output" "$(cat /etc/hosts)"
    networked -- sh -c 'echo x >/etc/resolv.conf; rm /etc/resolv.conf; mv /etc/hosts /etc/resolv.conf; cat /etc/resolv.conf'
    assert_output_has "nameserver 198.18.0.1"
    inside cat /etc/resolv.conf
    assert_equal "$output" "$(cat /etc/resolv.conf)"
}

@test "E14 E18: ports inside stay free while they are allowed outwards" {
    networked --port=8443 --port=5432 --port=3128 --port=53 -- python3 -c '
import socket
held = []
for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")):
    for port in (8443, 5432, 3128):
        s = socket.socket(family)
        s.bind((address, port))
        s.listen()
        held.append(s)
        with socket.create_connection(("127.0.0.1" if family == socket.AF_INET else "::1", port)):
            s.accept()
print("served", len(held))
for target in (("198.18.1.0", 8443), ("198.18.0.1", 3128), ("198.18.1.0", 3128), ("198.18.0.1", 53)):
    print(socket.create_connection(target).recv(99).decode().strip())'
    assert_equal "$output" "served 6
transparent 198.18.1.0 8443
proxy 198.18.0.1 3128
transparent 198.18.1.0 3128
dns-tcp 198.18.0.1 53"
}

@test "without veth all of it is on loopback: the same answers, but the ports that are allowed are taken" {
    networked --no-veth --port=443 --port=3128 --port=5432 --literal=10.0.0.5 --literal=127.0.0.53 \
        --literal=2001:db8::7 --host-port=8080 -- python3 dial.py 198.18.0.1/3128 198.18.1.0/443 \
        10.0.0.5/5432 2001:2:0:1::100/443 2001:db8::7/443 127.0.0.1/8080 198.18.0.1/22 \
        10.0.0.6/5432 192.0.2.1/443 2001:db8::8/443 allowed.test/443
    assert_status 0
    assert_equal "$output" "198.18.0.1/3128 proxy 198.18.0.1 3128
198.18.1.0/443 transparent 198.18.1.0 443
10.0.0.5/5432 transparent 10.0.0.5 5432
2001:2:0:1::100/443 transparent 2001:2:0:1::100 443
2001:db8::7/443 transparent 2001:db8::7 443
127.0.0.1/8080 host-port 127.0.0.1 8080
198.18.0.1/22 ECONNREFUSED
10.0.0.6/5432 EACCES
192.0.2.1/443 EACCES
2001:db8::8/443 EACCES
allowed.test/443 transparent 2001:2:0:1::100 443"
    networked --no-veth --port=8443 -- python3 -c '
import errno, socket
for port in (8443, 8444):
    try:
        s = socket.create_server(("0.0.0.0", port))
        print(port, "bound")
    except OSError as e:
        print(port, errno.errorcode[e.errno])
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
try:
    s.bind(("0.0.0.0", 8443))
    print("shared")
except OSError as e:
    print(errno.errorcode[e.errno])'
    assert_equal "$output" $'8443 EADDRINUSE\n8444 bound\nEADDRINUSE'
    networked --no-veth --gone --port=443 -- sh -c 'sleep 0.2; python3 dial.py 198.18.1.0/443 192.0.2.1/443'
    assert_equal "$output" $'198.18.1.0/443 ECONNREFUSED\n192.0.2.1/443 EACCES'
}

@test "low ports may be bound inside where the host allows it" {
    local first
    first=$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)
    inside cat /proc/sys/net/ipv4/ip_unprivileged_port_start
    assert_equal "$output" "$first"
    networked -- cat /proc/sys/net/ipv4/ip_unprivileged_port_start
    assert_equal "$output" "$first"
}

@test "a port of the host is served on loopback inside, low ones too" {
    networked --host-port=5432 --host-port=80 -- python3 dial.py 127.0.0.1/5432 ::1/80 127.0.0.2/80
    assert_equal "$output" "127.0.0.1/5432 host-port 127.0.0.1 5432
::1/80 host-port ::1 80
127.0.0.2/80 ECONNREFUSED"
}

@test "a published port: the proxy connects by a socket of the sandbox" {
    local port=$((20000 + RANDOM % 10000))
    in_host "$GATEWAY" --publish="$port:5173" run python3 -c '
import socket, pathlib
s = socket.socket()
s.bind(("127.0.0.1", 5173))
s.listen()
pathlib.Path("up").touch()
for i in range(3):
    c, _ = s.accept()
    c.sendall(b"hello %d" % i)
    c.close()'
    wait_for 10 test -e up
    local i
    for i in 0 1 2; do
        run cat <"/dev/tcp/127.0.0.1/$port"
        assert_equal "$output" "hello $i"
    done
    finish 10
    assert_equal "$status" 0
}

@test "the command can change neither side of the network" {
    cat >change.py <<'PY'
import errno, fcntl, os, socket, struct
link = socket.if_nametoindex("sbox0")
def attempt(name, f):
    try:
        print(name, f())
    except OSError as e:
        print(name, errno.errorcode.get(e.errno, e))
def option(level, number, value):
    def f():
        with socket.socket() as s:
            s.setsockopt(level, number, value)
    return f
def ioctl(number):
    def f():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            return fcntl.ioctl(s, number, b"sbox0".ljust(16, b"\0") + bytes(104))
    return f
def netlink(kind, body):
    def f():
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
            s.send(struct.pack("IHHII", 16 + len(body), kind, 0x605, 1, 0) + body)
            error = -struct.unpack("i", s.recv(999)[16:20])[0]
            if error:
                raise OSError(error, "")
    return f
route = struct.pack("BBBBBBBBI", 2, 0, 0, 0, 254, 3, 0, 1, 0) + struct.pack("HHi", 8, 4, link)
attempt("transparent", option(socket.IPPROTO_IP, 19, 1))
attempt("mark", option(socket.SOL_SOCKET, 36, 5))
attempt("source-route", option(socket.IPPROTO_IP, 4, bytes([1, 131, 7, 4, 192, 0, 2, 1])))
for name, number in (("flags", 0x8914), ("address", 0x8916), ("route", 0x890B), ("arp", 0x8955),
                     ("rename", 0x8923), ("mtu", 0x8922), ("namespace", 0x894C)):
    attempt(name, ioctl(number))
attempt("new-route", netlink(24, route))
attempt("new-address", netlink(20, struct.pack("BBBBi", 2, 24, 0, 0, link)
                               + struct.pack("HH", 8, 2) + socket.inet_aton("192.0.2.1")))
attempt("new-neighbour", netlink(28, struct.pack("BxxxiHBB", 2, link, 128, 0, 0)
                                 + struct.pack("HH", 8, 1) + socket.inet_aton("198.18.0.9")))
attempt("new-rule", netlink(32, struct.pack("BBBBBBBBI", 2, 0, 0, 0, 254, 0, 0, 1, 0)))
attempt("sysctl", lambda: open("/proc/sys/net/ipv4/ip_forward", "w"))
attempt("init's namespace", lambda: os.open("/proc/1/ns/net", os.O_RDONLY))
print("descriptors", *sorted(os.listdir("/proc/self/fd"))[:3])
namespaces = {os.readlink("/proc/self/ns/net")}
for pid in os.listdir("/proc"):
    if pid.isdigit() and pid != "1":
        namespaces.add(os.readlink(f"/proc/{pid}/ns/net"))
print("namespaces", len(namespaces))
PY
    networked --port=443 -- python3 change.py
    assert_equal "$(awk '{print $1, $NF}' <<<"$output" | head -n 16 | sort -u -k2 | cut -d' ' -f2 | tr '\n' ' ')" \
        "EACCES EPERM EROFS "
    assert_equal "$(tail -n 2 <<<"$output")" "descriptors 0 1 2
namespaces 1"
}

@test "no way round the routes: interfaces, multicast, link-local, source addresses" {
    cat >round.py <<'PY'
import errno, socket, struct
link = socket.if_nametoindex("sbox0")
def attempt(name, family, address, port, options=(), kind=socket.SOCK_STREAM, source=None):
    with socket.socket(family, kind) as s:
        s.settimeout(1)
        try:
            for level, number, value in options:
                s.setsockopt(level, number, value)
            if source:
                s.bind(source)
            s.connect((address, port) if family == socket.AF_INET else (address, port, 0, link))
            if kind == socket.SOCK_DGRAM:
                s.send(b"x" * 40)
            print(name, "GOT", s.recv(99).decode().strip())
        except TimeoutError:
            print(name, "silence")
        except OSError as e:
            print(name, errno.errorcode.get(e.errno, e))
V4, V6, DGRAM = socket.AF_INET, socket.AF_INET6, socket.SOCK_DGRAM
device = (socket.SOL_SOCKET, 25, b"sbox0\0")
attempt("device", V4, "192.0.2.1", 443, [device])
attempt("device-v6", V6, "2001:db8::1", 443, [device])
attempt("device-loopback", V4, "127.0.0.1", 443, [device])
attempt("interface", V4, "192.0.2.1", 443, [(socket.IPPROTO_IP, 50, struct.pack("!I", link))])
attempt("no-route", V4, "192.0.2.1", 443, [(socket.SOL_SOCKET, 5, 1)])
attempt("multicast", V4, "224.0.0.1", 53, [(socket.IPPROTO_IP, 32, socket.inet_aton("198.18.0.2"))], DGRAM)
attempt("multicast-v6", V6, "ff02::1", 53, (), DGRAM)
attempt("broadcast", V4, "198.18.0.3", 53, [(socket.SOL_SOCKET, 6, 1)], DGRAM)
attempt("broadcast-all", V4, "255.255.255.255", 53, [(socket.SOL_SOCKET, 6, 1)], DGRAM)
attempt("link-local-proxy", V6, "fe80::1", 3128)
attempt("link-local-other", V6, "fe80::1", 22)
attempt("udp-other", V4, "198.18.1.0", 443, (), DGRAM)
attempt("foreign-source", V4, "198.18.1.0", 443, [(socket.IPPROTO_IP, 15, 1)], source=("192.0.2.9", 0))
PY
    networked --port=443 -- python3 round.py
    assert_equal "$output" "device silence
device-v6 ENETUNREACH
device-loopback silence
interface EACCES
no-route ENETUNREACH
multicast silence
multicast-v6 silence
broadcast silence
broadcast-all EACCES
link-local-proxy ECONNREFUSED
link-local-other ECONNREFUSED
udp-other ECONNREFUSED
foreign-source ENETUNREACH"
}

@test "E17: without the proxy connections are refused, and nothing opens" {
    networked --gone --port=443 --host-port=5432 -- sh -c 'sleep 0.2
        python3 dial.py 198.18.1.0/443 198.18.0.1/3128 127.0.0.1/5432 192.0.2.1/443'
    assert_status 0
    assert_equal "$output" "198.18.1.0/443 ECONNREFUSED
198.18.0.1/3128 ECONNREFUSED
127.0.0.1/5432 ECONNREFUSED
192.0.2.1/443 EACCES"
}

@test "a proxy that ends, or is silent, before the command starts: 125, and the command does not run" {
    networked --dead -- touch ran
    assert_status 125
    assert_stderr_has "sbox-proxy ended before the command began"
    networked --mute -- touch ran
    assert_status 125
    assert_stderr_has "wait for sbox-proxy"
    [[ ! -e ran ]]
}

@test "a proxy that asks for what it may not have gets nothing, and the run goes on" {
    networked --rude --port=443 -- sh -c 'python3 dial.py 198.18.1.0/443; exit 7'
    assert_status 7
    assert_equal "$output" "198.18.1.0/443 transparent 198.18.1.0 443"
    assert_equal "$stderr" "0 sockets came"
}

@test "E14: a server that nobody outside can reach is named once, with or without a network" {
    cat >servers.py <<'PY'
import socket, sys, time
held = []
for port in map(int, sys.argv[1:]):
    s = socket.socket()
    s.bind(("127.0.0.1", port))
    s.listen()
    held.append(s)
time.sleep(6.5)
PY
    inside python3 servers.py 5173 0
    assert_status 0
    assert_equal "$stderr" "sbox: a server listens on port 5173 inside; to reach it from the host: -p 5173"
    inside -q python3 servers.py 5173
    assert_equal "$stderr" ""
    networked --publish=0:5173 --host-port=5432 -- python3 servers.py 5173 3000
    assert_equal "$stderr" "sbox: a server listens on port 3000 inside; to reach it from the host: -p 3000"
}

@test "the policy that would apply names the resolver" {
    networked --port=443 -- --dry-run true
    assert_output_has "/etc/resolv.conf  (names are answered by sbox-proxy"
    inside --dry-run true
    refute_output_has "resolv.conf"
}

# What a network changes in the attack table: other addresses answer EACCES, and there is an interface
# with a way to the gateway.
@test "with a network each row of the attack table answers as without, but for those of the network" {
    plant_targets
    attack "$SBOX" run ./probe all >"$T/without"
    attack "$GATEWAY" --port=443 run ./probe all >"$T/with"
    sed -i '/^net\./s/ENETUNREACH/EACCES/' "$T/without"
    run diff "$T/without" "$T/with"
    assert_equal "$(grep '^[<>]' <<<"$output" | sort)" "< net.dns	EACCES
< net.interfaces	none
< net.route	none
> net.dns	OK
> net.interfaces	OK
> net.route	OK"
}

@test "bare: the host's network and its resolver, and the other walls as ever" {
    inside --allow-net-out readlink /proc/self/ns/net
    assert_equal "$output" "$(readlink /proc/self/ns/net)"
    assert_stderr_has "deprecated"
    inside --allow-net-out cat /etc/resolv.conf
    assert_equal "$output" "$(cat /etc/resolv.conf)"
    plant_targets
    attack "$SBOX" run ./probe all >"$T/without"
    attack "$SBOX" run --allow-net-out ./probe all >"$T/bare"
    # Abstract sockets of the host exist there; Landlock holds them (ABI 6).
    sed -i '/^unix\.abstract/s/ECONNREFUSED/EPERM/' "$T/without"
    run diff <(grep -v '^net\.' "$T/without") <(grep -v '^net\.' "$T/bare")
    assert_equal "$output" ""
    run grep -E '^net\.(raw|family|netlink|sctp|dccp)' "$T/bare"
    refute_output_has OK
}
