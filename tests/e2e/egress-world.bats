# The egress tests' own Internet: that what the other files rely on works without sbox, so that a refusal
# inside means something.
# ctest-labels: egress
load ../helpers/common
load ../helpers/egress

@test "world: names, HTTP, HTTPS, both families" {
    run --separate-stderr bare curl -sS --cacert ca.pem http://allowed.test/ https://denied.test:8443/ \
        -4 https://v4only.test/ http://169.254.169.254/ http://127.0.0.1/
    assert_status 0
    assert_equal "${lines[1]}" "at 203.0.113.66 8443 host denied.test:8443 sni denied.test"
    assert_equal "${lines[2]}" "at 203.0.113.10 443 host v4only.test sni v4only.test"
    assert_equal "${lines[3]}" "at 169.254.169.254 80 host 169.254.169.254 sni -"
    assert_equal "${lines[4]}" "at 127.0.0.1 80 host 127.0.0.1 sni -"
    run --separate-stderr bare curl -sS --cacert ca.pem https://v6only.test/
    assert_equal "$output" "at 2001:db8:1::10 443 host v6only.test sni v6only.test"
}

@test "world: a packet of any kind that leaves is told, silence too" {
    left bare /usr/bin/python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"x", ("203.0.113.66", 9))
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.sendto(b"x", ("2001:db8:1::66", 9))'
    assert_equal "$left" $'udp 203.0.113.66 9\nudp 2001:db8:1::66 9'
    left bare bash -c ': </dev/tcp/203.0.113.66/7'
    assert_equal "$left" "tcp 203.0.113.66 7"
    left bare getent ahostsv4 data.evil.test
    assert_equal "$left" "udp 192.0.2.53 53 data.evil.test"
    nothing_left bare true
    run nothing_left bare getent ahostsv4 data.evil.test
    assert_status 1
}

@test "world: redis, echo, a server that speaks first, git over ssh, WebSocket, half-close" {
    run --separate-stderr bare redis-cli -h other.test ping
    assert_equal "$output" PONG
    run --separate-stderr bare bash -c 'exec 3<>/dev/tcp/allowed.test/25; head -n 1 <&3'
    assert_equal "$output" $'220 outside speaks first\r'
    ssh_key
    run --separate-stderr bare env GIT_SSH_COMMAND="$GIT_SSH" git clone -q "ssh://$(id -un)@git.test$EGRESS_DIR/git/repo.git"
    assert_status 0
    run --separate-stderr bare ./client websocket ws://allowed.test:8081/
    assert_equal "$output" "echo hello"
    run --separate-stderr bare ./client half-close allowed.test 9007 100000
    assert_equal "$output" 100000
}

@test "world: the upstream proxy asks for its password" {
    local url=http://proxyuser:sbox-test-upstream-password@192.0.2.80:3128
    run --separate-stderr bare curl -sS -x "$url" --cacert ca.pem https://allowed.test/
    assert_output_has "host allowed.test sni allowed.test"
    came "upstream CONNECT allowed.test:443 known"
    run --separate-stderr bare curl -sS -x http://192.0.2.80:3128 --cacert ca.pem https://allowed.test/
    [[ $status -ne 0 ]]
    came "upstream CONNECT allowed.test:443 stranger"
}
