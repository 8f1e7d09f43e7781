# cases/egress E14 and E15: servers inside, reached from the host with -p; services of the host's
# loopback, reached from inside with --allow-host-port.
# ctest-labels: egress
load ../helpers/common
load ../helpers/egress

# serve_inside OPTIONS… -- ADDRESS PORT: in the background, until the file `stop` exists.
serve_inside()
{
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    in_host "$SBOX" run "${options[@]}" sh -c "./client serve $1 $2 >listening & while [ ! -s listening ]; do sleep 0.02; done
        touch up; while [ ! -e stop ]; do sleep 0.05; done; kill \$!"
    wait_for 20 test -e up
}

stop_inside()
{
    touch stop
    finish 20
    rm -f stop up listening
}

@test "E14: a server inside is reached from the host, whatever address it listens on" {
    local address
    for address in 127.0.0.1 localhost ::1 0.0.0.0 ::; do
        serve_inside -p 18080:3000 -- "$address" 3000
        run --separate-stderr bare curl -sS -m 10 http://127.0.0.1:18080/
        assert_equal "$output" 'from inside'
        stop_inside
        assert_equal "$(cat "$T/host.err")" ''
        assert_equal "$status" 0
    done
}

@test "E14: the same port inside and outside; loopback only" {
    serve_inside -p 13000 -- 0.0.0.0 13000
    run --separate-stderr bare curl -sS -m 10 http://127.0.0.1:13000/
    assert_equal "$output" 'from inside'
    run --separate-stderr bare curl -sS -m 2 http://192.0.2.10:13000/
    [[ $status -ne 0 ]]
    assert_equal "$(ss -Hltn 'sport = :13000' | awk '{print $4}')" 127.0.0.1:13000
    stop_inside
    assert_equal "$(ss -Hltn 'sport = :13000')" ''
}

@test "E14: an address of one's own choice" {
    serve_inside -p 192.0.2.10:13000:3000 -p '[::1]:13001:3000' -- 0.0.0.0 3000
    run --separate-stderr bare curl -sS -m 10 http://192.0.2.10:13000/
    assert_equal "$output" 'from inside'
    run --separate-stderr bare curl -sS -m 10 'http://[::1]:13001/'
    assert_equal "$output" 'from inside'
    run --separate-stderr bare curl -sS -m 2 http://127.0.0.1:13000/
    [[ $status -ne 0 ]]
    stop_inside
}

@test "E14: a hot-reload WebSocket through a published port" {
    cat >ws.py <<'PYTHON'
import asyncio, websockets
async def echo(c):
    async for m in c: await c.send(m)
async def main():
    async with websockets.serve(echo, "127.0.0.1", 3000):
        print("listening", flush=True); await asyncio.Event().wait()
asyncio.run(main())
PYTHON
    in_host "$SBOX" run -p 3000 sh -c '/usr/bin/python3 ws.py >listening & while [ ! -s listening ]; do sleep 0.02; done
        touch up; while [ ! -e stop ]; do sleep 0.05; done; kill $!'
    wait_for 20 test -e up
    run --separate-stderr bare ./client websocket ws://127.0.0.1:3000/ 2
    assert_equal "$output" 'echo hello'
    stop_inside
}

@test "E14: a server that starts late, and one that is not there" {
    in_host "$SBOX" run -p 3000 sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done
        ./client serve 127.0.0.1 3000 >listening & while [ ! -e stop ]; do sleep 0.05; done; kill $!'
    wait_for 20 test -e up
    run --separate-stderr bare curl -sS -m 5 http://127.0.0.1:3000/
    [[ $status -ne 0 && $status -ne 28 ]] # refused or closed, not left hanging
    touch go
    wait_for 20 test -s listening
    run --separate-stderr bare curl -sS -m 10 http://127.0.0.1:3000/
    assert_equal "$output" 'from inside'
    stop_inside
    run --separate-stderr sbox log --net
    assert_output_has '  served   127.0.0.1:3000  1 connection, '
    assert_output_has '  failed   127.0.0.1:3000  1 connection, '
    refute_output_has reached
}

@test "E14: publishing opens nothing outwards" {
    nothing_left sbox run -p 3000 sh -c 'curl -sS -m 5 http://allowed.test/; ./direct curl -sS -m 5 http://203.0.113.10/
        getent ahosts allowed.test; ./client get 127.0.0.1 5432'
    [[ $status -ne 0 ]]
    nobody_came .
}

@test "E14: a port that is taken, a wrong spelling" {
    inside -p 80 touch marker # the host's own
    assert_status 125
    assert_stderr_has 80
    local text
    for text in '' 0 65536 x 80: :80 1.2.3.4 1.2.3.4: example.test:80:80 80:80:80:80 -1 080; do
        inside -p "$text" touch marker
        assert_status 125
        assert_stderr_has 'sbox: '
    done
    [[ ! -e marker ]]
    assert_equal "$(proxies)" ''
}

# until the host knows, or LOOKS seconds: init looks now and then
told_about()
{
    grep -q -- "-p $1" "$T/host.err"
}

@test "E14: a server that is not published: one line says how" {
    serve_inside -- 127.0.0.1 3000
    wait_for 20 told_about 3000
    stop_inside
    assert_equal "$(grep -c -- '-p 3000' "$T/host.err")" 1
    serve_inside -o allowed.test -p 3001 -- 0.0.0.0 3000
    wait_for 20 told_about 3000
    stop_inside
    assert_equal "$(grep -c -- '-p 3000' "$T/host.err")" 1
}

@test "E14: nothing is said about a server that is published" {
    cat >two.sh <<'SCRIPT'
./client serve 127.0.0.1 3000 >listening & one=$!
./client serve 127.0.0.1 3001 >later & two=$!
while [ ! -e stop ]; do sleep 0.05; done
kill $one $two
SCRIPT
    in_host "$SBOX" run -p 3000 sh two.sh
    wait_for 20 told_about 3001 # so that the other one has been seen as often
    touch stop
    finish 20
    assert_equal "$(grep -c 'a server listens' "$T/host.err")" 1
}

@test "E14: what connects to a published port leaves with the run" {
    serve_inside -p 3000 -- 127.0.0.1 3000
    in_host bash -c 'exec 3<>/dev/tcp/127.0.0.1/3000; touch connected; cat <&3'
    wait_for 10 test -e connected
    local client=${HOST_PIDS[-1]}
    HOST_PIDS=("${HOST_PIDS[@]:0:1}")
    stop_inside
    wait_for 10 has_ended "$client"
}

@test "host port: the one service of the host's loopback that is named, and no other" {
    inside --allow-host-port 5432 ./client raw 127.0.0.1 5432 1 <<<'ping'
    assert_equal "$output" ping
    came 'echo 127.0.0.1 5432'
    inside --allow-host-port 5432 ./client raw localhost 5432 1 <<<'ping'
    assert_equal "$output" ping
    nothing_left sbox run --allow-host-port 5432 sh -c './client get 127.0.0.1 2525; ./client get 127.0.0.1 80
        ./client get 192.0.2.10 5432; curl -sS -m 5 http://allowed.test/'
    [[ $status -ne 0 ]]
    nobody_came banner
    nobody_came http
}

@test "host port: with a list of hosts, and beside a published one" {
    inside -o allowed.test --allow-host-port 5432 -p 3000 sh -c 'echo ping | ./client raw 127.0.0.1 5432 1; curl -sS http://allowed.test/'
    assert_output_has ping
    assert_output_has 'host allowed.test'
}

@test "E15: the host's loopback in the list of hosts: --allow-host-port is named" {
    local host
    for host in localhost 127.0.0.1 '[::1]'; do
        run --separate-stderr sbox run -o "$host:5432" true
        assert_status 0
        assert_stderr_has "sbox: '$host:5432' is the sandbox's own loopback for most clients; for a service of the host: --allow-host-port=5432"
    done
    run --separate-stderr sbox run -o localhost.example:5432,192.0.2.10:5432 true
    assert_equal "$stderr" ''
}
