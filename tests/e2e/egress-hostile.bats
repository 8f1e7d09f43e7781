# An attacker on both sides: the command, and a server that the list allows (cases/egress E2, E9, E10, E16).
# ctest-labels: egress
# ctest-timeout: 300
load ../helpers/common
load ../helpers/attack
load ../helpers/egress
PROXY_ENV=--proxy-env

# hostile PYTHON: a server on the host's own address, port 8900, whose connections are `c`
hostile()
{
    cat >"$T/hostile.py" <<PYTHON
import socket, sys
l = socket.create_server(("192.0.2.10", 8900)); open("$T/listening", "w").close()
while True:
    c, _ = l.accept()
$(sed 's/^/    /' <<<"$1")
PYTHON
    in_host /usr/bin/python3 "$T/hostile.py"
    wait_for 10 test -e "$T/listening"
}

@test "E10: interim answers without end do not fill the proxy's memory" {
    hostile '
c.settimeout(2); n = 0
try:
    while n < 300 << 20: n += c.send(b"HTTP/1.1 100 Continue\r\nX: %s\r\n\r\n" % (b"x" * 8000))
except TimeoutError: pass
open("'"$T"'/sent.new", "w").write(str(n))
import os; os.rename("'"$T"'/sent.new", "'"$T"'/sent")'
    in_host "$SBOX" run -o 192.0.2.10:8900 /usr/bin/python3 -c '
import os, socket, time
c = socket.create_connection(("198.18.0.1", 3128))
c.sendall(b"GET http://192.0.2.10:8900/ HTTP/1.1\r\nHost: 192.0.2.10:8900\r\n\r\n")
while not os.path.exists("stop"): time.sleep(0.05)'
    wait_for 60 test -e "$T/sent"
    touch stop
    [[ $(<"$T/sent") -lt $((64 << 20)) ]] || fail "the proxy took $(<"$T/sent") bytes"
}

@test "E9: TLS with a strange version on its first record is looked at all the same" {
    cat >versions.py <<'PYTHON'
import socket, ssl, sys
out = ssl.MemoryBIO()
context = ssl.create_default_context()
stream = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="denied.test")
try: stream.do_handshake()
except ssl.SSLWantReadError: pass
hello = out.read()
for first in (b"", b"\x15\x02\x00\x00\x02\x01\x00"):
    for major in (0, 1, 2, 3, 4, 15):
        c = socket.create_connection(("198.18.0.1", 3128), 10)
        c.sendall(b"CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n")
        assert c.recv(4096).startswith(b"HTTP/1.1 200")
        c.sendall(first + hello[:1] + bytes([major]) + hello[2:])
        print(c.recv(4096).hex(), flush=True)
PYTHON
    inside -o allowed.test /usr/bin/python3 versions.py
    assert_status 0
    assert_equal "$(sort -u <<<"$output")" 15030100020270
    assert_equal "$(wc -l <<<"$output")" 12
    nobody_came 'denied\.test'
}

@test "E2: TRACE is refused: who answers it shows the upstream proxy's password" {
    ENV=(http_proxy=http://proxyuser:sbox-test-upstream-password@192.0.2.80:3128)
    inside -o allowed.test curl -sS -o /dev/null -w '%{http_code}' -X TRACE -H 'Max-Forwards: 0' http://allowed.test/
    assert_equal "$output" 400
    nobody_came upstream
}

@test "E16: an upgraded connection goes through a tunnel of the upstream proxy, which reads none of it" {
    ENV=(http_proxy=http://proxyuser:sbox-test-upstream-password@192.0.2.80:3128)
    inside -o allowed.test sh -c 'printf "%b" "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n" | ./client proxy 2'
    assert_output_has 'host allowed.test'
    came 'upstream CONNECT allowed.test:80 known'
    nobody_came 'upstream GET'
}

@test "E5: a name that leads to this machine's own address, which looks public" {
    hostile '
d = c.recv(4096)
if d: open("'"$T"'/got", "ab").write(d); c.sendall(b"HTTP/1.0 200 OK\r\n\r\nservice of the host\n")
c.close()'
    local how
    for how in curl './direct curl'; do
        inside -o own.test:8900 $how -sS -m 10 http://own.test:8900/
        refute_output_has 'service of the host'
        assert_stderr_has "own.test:8900 leads to 192.0.2.10, which is not public (this machine's own); list that address itself, or add --allow-private"
    done
    [[ ! -e $T/got ]] || fail "something was sent: $(<"$T/got")"
    inside -o own.test:8900 --allow-private curl -sS -m 10 http://own.test:8900/
    assert_output_has 'service of the host'
}

@test "told: a command that asks for thousands of hosts does not fill the terminal" {
    inside -o allowed.test /usr/bin/python3 -c '
import socket
for i in range(3000):
    try: socket.getaddrinfo("h%d.denied.test" % i, 80, socket.AF_INET)
    except OSError: pass'
    assert_status 0
    [[ $(wc -l <<<"$stderr") -lt 120 ]] || fail "$(wc -l <<<"$stderr") lines"
    [[ ${#stderr} -lt 20000 ]] || fail "${#stderr} bytes"
    assert_stderr_has 'there may be more: sbox suggest'
    run --separate-stderr sbox suggest
    assert_output_has h2999.denied.test
}

# with_hostile_proxy MODE: sbox as if its sbox-proxy had been taken over
with_hostile_proxy()
{
    mkdir -p "$T/bin"
    cp "$SBOX" "$T/bin/sbox"
    cp "$HELPERS/egress/hostile-proxy" "$T/bin/sbox-proxy"
    echo "$1" >"$T/bin/mode"
}

@test "E17: a proxy that was taken over does not change what the command returns, nor write to the terminal" {
    local mode
    for mode in flood orders descriptors sizes silence; do
        with_hostile_proxy "$mode"
        in_host "$T/bin/sbox" run -o a.test sh -c 'sleep 1; exit 7'
        finish 30
        [[ $status -eq 7 ]] || fail "$mode: status $status" "$(head -c 2000 "$T/host.err")"
        if grep -q $'[\033\007]' "$T/host.err"; then fail "$mode: control characters" "$(head -c 2000 "$T/host.err")"; fi
        [[ $(wc -l <"$T/host.err") -lt 200 ]] || fail "$mode: $(wc -l <"$T/host.err") lines"
    done
    run --separate-stderr sbox log --net
    refute_output_has $'\033'
    refute_output_has $'\007'
    sbox log --net --json | jq -e . >/dev/null
    run --separate-stderr sbox suggest
    refute_output_has '$('
    refute_output_has '`'
}

@test "E17: a proxy that was taken over does not keep a run from being ended" {
    local mode
    for mode in flood orders descriptors sizes; do
        with_hostile_proxy "$mode"
        rm -f up
        in_host "$T/bin/sbox" run -o a.test sh -c 'touch up; exec sleep 1000'
        wait_for 20 test -e up
        sleep 0.5
        kill -TERM "${HOST_PIDS[-1]}"
        finish 20
        assert_equal "$mode $status" "$mode 143"
    done
}
