# cases/egress: the list, the decision, what is said about it. The number in a name is the case's.
# ctest-labels: egress
# ctest-timeout: 600
load ../helpers/common
load ../helpers/egress
PROXY_ENV=--proxy-env

# A CONNECT request for this target.
connect_to()
{
    printf 'CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n' "$1" "$1"
}

@test "E1: an empty list is a usage error, never an open network" {
    local option
    for option in --allow-net-out= --allow-net-out=, --allow-net-out=,, '--allow-net-out= '; do
        nothing_left sbox run "$option" curl -sS http://allowed.test/
        assert_status 125
        assert_stderr_has 'sbox: '
    done
    nothing_left sbox run -o '' curl -sS http://allowed.test/
    assert_status 125
    nothing_left sbox run -o ,, curl -sS http://allowed.test/
    assert_status 125
}

@test "E1: refused forms alone never become allow-all" {
    local rule
    for rule in '*' '*.*' test com co.uk '*.com' localhost 'allowed.test:0' 'allowed.test:65536' \
        'allowed.test:' 'allowed.test:https' 'http://allowed.test' 'allowed.test/path' 'a@allowed.test' \
        '.' '..' '*allowed.test' 'al*.test' 'allowed..test' 203.0.113.0/24 '[::1' 'allowed.test:+80'; do
        nothing_left sbox run -o "$rule" curl -sS http://allowed.test/
        assert_status 125
        assert_stderr_has 'sbox: '
        # beside a good one, too
        nothing_left sbox run -o "allowed.test,$rule" true
        assert_status 125
    done
    nobody_came .
}

@test "E2: absolute form is decided by its target; what does not fit is 400" {
    nothing_left sbox run -o allowed.test ./client proxy <<<$'GET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n\r'
    assert_output_has "HTTP/1.1 403 "
    local request
    for request in \
        'GET http://denied.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n' \
        'GET http://allowed.test/ HTTP/1.1\r\nHost: denied.test\r\n\r\n' \
        'GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nHost: denied.test\r\n\r\n' \
        'GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nHost: allowed.test\r\n\r\n' \
        'GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n' \
        'GET http://user@allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n' \
        'GET https://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n' \
        'GET http://allowed.test/ HTTP/1.1\r\nHost : allowed.test\r\n\r\n' \
        'POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n' \
        'GET http://allowed.test/ HTTP/3.0\r\nHost: allowed.test\r\n\r\n' \
        'BLURB\r\n\r\n'; do
        # shellcheck disable=SC2059
        printf "$request" >request
        nothing_left sbox run -o allowed.test sh -c './client proxy <request'
        assert_output_has "HTTP/1.1 400 "
    done
    nobody_came request
}

@test "E12: a client that wants the proxy to speak TLS for it, as axios does, is told what helps" {
    printf 'GET https://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n' >request
    nothing_left sbox run -o allowed.test sh -c './client proxy <request'
    assert_output_has 'HTTP/1.1 400 '
    assert_stderr_has 'without --proxy-env'
}

@test "E2: one kept connection, each request decided again, never two hosts' data" {
    printf 'GET http://%s/%s HTTP/1.1\r\nHost: %s\r\n\r\n' allowed.test one allowed.test denied.test two denied.test \
        other.test three other.test >request
    printf 'GET http://allowed.test/four HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n' >>request
    inside -o allowed.test,other.test sh -c './client proxy <request'
    came 'request GET /one allowed.test'
    nobody_came 'two'
    nobody_came 'denied'
    assert_output_has 'host allowed.test sni -'
    assert_output_has 'HTTP/1.1 403 '
    # after a refusal the proxy may close; what it answers must be in order
    if [[ $output == *other.test* ]]; then came 'request GET /three other.test'; fi
}

@test "E2: HTTP/1.0 in absolute form, a body, and HEAD" {
    printf 'GET http://allowed.test/old HTTP/1.0\r\n\r\n' >request
    inside -o allowed.test sh -c './client proxy <request'
    assert_output_has ' 200 '
    assert_output_has 'host allowed.test'
    reaches 'host allowed.test' -o allowed.test curl -sS --data 'name=value' http://allowed.test/form
    came 'request POST /form allowed.test'
    inside -o allowed.test curl -sS --head http://allowed.test/head
    assert_output_has '200 '
}

@test "E3: one canonical form: trailing dot, upper case" {
    local target
    for target in allowed.test. ALLOWED.Test aLLOWED.test. www.allowed.test; do
        inside -o allowed.test curl -sS -p "http://$target:80/"
        assert_status 0
        assert_output_has 'at '
    done
}

@test "E3: what only looks like the allowed host is refused" {
    local target
    for target in evilallowed.test:80 allowed.test.evil.test:80 allowed.testx:80 allowed-test:80 \
        xn--allowed-cua.test:80 _x.evil.test:80; do
        connect_to "$target" >request
        nothing_left sbox run -o allowed.test sh -c './client proxy <request'
        assert_output_has "HTTP/1.1 403 "
    done
}

@test "E3: what is no host name is 400" {
    local target long
    printf -v long '%0300d.allowed.test:80' 0
    for target in 'allowed.test@evil.test:80' 'evil.test@allowed.test:80' '%61llowed.test:80' 'allowed.test%00.evil.test:80' \
        'allowed..test:80' '..:80' '.allowed.test:80' "$long" 'allowed.test' 'allowed.test:' 'allowed.test:080' \
        'allowed.test:+80' 'allowed.test:99999' 'allowed.test:0' 'allowed.test:80:80' ' allowed.test:80' \
        '[allowed.test]:80' 'allowed.test/:80' 'al lowed.test:80' '[::1:80' '[fe80::1%lo]:'; do
        connect_to "$target" >request
        nothing_left sbox run -o allowed.test sh -c './client proxy <request'
        assert_output_has "HTTP/1.1 400 "
    done
    printf 'CONNECT allowed.test\0.evil.test:80 HTTP/1.1\r\n\r\n' >request
    nothing_left sbox run -o allowed.test sh -c './client proxy <request'
    assert_output_has "HTTP/1.1 400 "
}

@test "E3: an international name in the list, in either spelling" {
    local rule
    for rule in bücher.example BÜCHER.example xn--bcher-kva.example; do
        reaches 'host xn--bcher-kva.example' -o "$rule" curl -sS http://xn--bcher-kva.example/
        reaches 'host xn--bcher-kva.example' -o "$rule" ./direct curl -sS http://xn--bcher-kva.example/
    done
    nothing_left sbox run -o bücher.example curl -sS -f http://bucher.example/
    [[ $status -ne 0 ]]
}

ADDRESSES=(2130706433 0177.0.0.1 127.1 0x7f.1 127.0.0.1 127.0.0.1. '[::1]' '[::ffff:127.0.0.1]' '[::127.0.0.1]'
    '[::169.254.169.254]' '[64:ff9b::a9fe:a9fe]' 169.254.169.254 0.0.0.0 0 '[::]' 100.64.0.1 10.1.2.3 192.168.1.1
    172.16.0.1 203.0.113.10 '[2001:db8:1::10]' 198.18.0.1 224.0.0.1 255.255.255.255 '[fd00::1]' '[fe80::1]')

@test "E4: an address in any spelling is refused unless it is listed itself" {
    local address
    for address in "${ADDRESSES[@]}"; do
        connect_to "$address:80" >"request.$address"
    done
    nothing_left sbox run -o allowed.test,203.0.113.99 sh -c 'for f in request.*; do ./client proxy <"$f" | head -n 1; done'
    assert_equal "$(grep -c 'HTTP/1.1 403 ' <<<"$output")" "${#ADDRESSES[@]}"
    nobody_came .
}

@test "E4: with a zone it is refused, whatever the reason" {
    connect_to '[fe80::1%lo]:80' >request
    nothing_left sbox run -o allowed.test sh -c './client proxy <request'
    grep -qE '^HTTP/1.1 40[03] ' <<<"$output"
}

@test "E4: the same by SOCKS and transparently" {
    local address
    for address in "${ADDRESSES[@]}"; do
        nothing_left sbox run -o allowed.test curl -sS -m 5 --socks5-hostname "$(socks_inside)" "http://$address/"
        [[ $status -ne 0 ]]
        nothing_left sbox run -o allowed.test ./direct curl -sS -m 5 "http://$address/"
        [[ $status -ne 0 ]]
    done
    nobody_came .
}

@test "E4: an address that is listed is reached, this port and no other" {
    reaches 'at 203.0.113.77 80' -o 203.0.113.77 curl -sS http://203.0.113.77/
    reaches 'at 203.0.113.77 80' -o 203.0.113.77 ./direct curl -sS http://203.0.113.77/
    reaches 'at 203.0.113.77 80' -o 203.0.113.77 curl -sS --socks5 "$(socks_inside)" http://203.0.113.77/
    reaches 'at 10.1.2.3 8080' -o 10.1.2.3:8080 curl -sS http://10.1.2.3:8080/
    reaches 'at 10.1.2.3 8080' -o 10.1.2.3:8080 ./direct curl -sS http://10.1.2.3:8080/
    reaches 'at 2001:db8:1::77 8080' -o '[2001:db8:1::77]:8080' curl -sS 'http://[2001:db8:1::77]:8080/'
    reaches 'at 2001:db8:1::77 8080' -o '[2001:db8:1::77]:8080' ./direct curl -sS 'http://[2001:db8:1::77]:8080/'
    reaches 'at 169.254.169.254 80' -o 169.254.169.254 curl -sS http://169.254.169.254/
    nothing_left sbox run -o 10.1.2.3:8080 ./direct curl -sS -m 5 http://10.1.2.3/
    [[ $status -ne 0 ]]
    nothing_left sbox run -o 10.1.2.3:8080 ./direct curl -sS -m 5 http://10.1.2.4:8080/
    [[ $status -ne 0 ]]
    nothing_left sbox run -o 10.1.2.3:8080 curl -sS -f http://10.1.2.3/
    assert_status 22
}

@test "E4: a name never matches a rule by address, nor an address one by name" {
    nothing_left sbox run -o 203.0.113.10 curl -sS -f http://allowed.test/
    assert_status 22
    nothing_left sbox run -o allowed.test curl -sS -f http://203.0.113.10/
    assert_status 22
}

PRIVATE=(loop.test loop6.test ten.test link.test meta.test cgnat.test ula.test mapped.test nat64.test zero.test
    bench.test multi.test cname-loop.test)

@test "E5: an allowed name that leads to a private or special address is refused" {
    local name way
    for name in "${PRIVATE[@]}"; do
        for way in '' ./direct; do
            # shellcheck disable=SC2086
            left sbox run -o "$name" $way curl -sS -f -m 10 "http://$name/"
            [[ $status -ne 0 ]]
            if grep -v '^udp 192\.0\.2\.53 53 ' <<<"$left" | grep .; then fail "left for $name"; fi
            assert_stderr_has "$name"
            assert_stderr_has "not public"
        done
    done
    nobody_came '^http'
}

@test "E5: an answer with one private address among public ones, and one that changes, never lead inside" {
    local n way
    for way in '' ./direct; do
        # shellcheck disable=SC2086
        inside -o mixed.test,rebind.test $way sh -c 'for n in 1 2 3 4 5 6 7 8; do
            curl -sS -m 10 http://mixed.test/; curl -sS -m 10 http://rebind.test/; done'
        refute_output_has 'at 127.'
    done
    nobody_came '127.0.0.1'
    assert_output_has 'at 203.0.113.10 80 host rebind.test'
}

@test "E5: --allow-private lets names lead to private addresses, never to metadata" {
    reaches 'at 127.0.0.1 80 host loop.test' -o loop.test --allow-private curl -sS http://loop.test/
    reaches 'at 127.0.0.1 80 host loop.test' -o loop.test --allow-private ./direct curl -sS http://loop.test/
    reaches 'at 10.1.2.3 80 host ten.test' -o ten.test --allow-private curl -sS http://ten.test/
    local name
    for name in meta.test zero.test multi.test nat64.test bench.test; do
        inside -o "$name" --allow-private curl -sS -f -m 10 "http://$name/"
        [[ $status -ne 0 ]]
    done
    nobody_came 169.254
    inside --allow-private true
    assert_status 125
}

@test "E5: the host's own file of names is heeded" {
    left sbox run -o hosts.test curl -sS http://hosts.test/
    assert_status 0
    assert_output_has 'at 203.0.113.10 80 host hosts.test'
    reaches 'at 203.0.113.10 80 host hosts.test' -o hosts.test ./direct curl -sS http://hosts.test/
    inside -o other.test getent hosts hosts.test
    assert_status 2
    inside -o other.test getent hosts localhost
    assert_status 0
    assert_equal "$left" 'tcp 203.0.113.10 80'
    nothing_left sbox run -o hosts-private.test curl -sS -f http://hosts-private.test/
    assert_status 22
    assert_stderr_has 'not public'
    # inside, without a proxy, a name of the loopback is the sandbox's own loopback
    nothing_left sbox run -o hosts-private.test ./direct curl -sS http://hosts-private.test/
    [[ $status -ne 0 ]]
    nobody_came 127.0.0.1
}

@test "E6: a port that is not listed is refused" {
    local port
    for port in 22 25 6379 8080; do
        connect_to "allowed.test:$port" >request
        nothing_left sbox run -o allowed.test sh -c './client proxy <request'
        assert_output_has 'HTTP/1.1 403 '
        assert_stderr_has "allowed.test:$port"
        nothing_left sbox run -o allowed.test ./direct ./client banner allowed.test "$port"
        [[ $status -ne 0 ]]
    done
    nothing_left sbox run -o allowed.test:8443 curl -sS -f http://allowed.test/
    assert_status 22
    nobody_came .
}

@test "E9: TLS must ask for the name that was dialled, through CONNECT and transparently" {
    reaches 'sni allowed.test' -o allowed.test ./client tls allowed.test 443 allowed.test allowed.test:443
    inside -o allowed.test,other.test ./client tls allowed.test 443 other.test allowed.test:443
    [[ $status -ne 0 ]]
    assert_stderr_has 'another name'
    inside -o allowed.test ./client tls denied.test 443 denied.test allowed.test:443
    [[ $status -ne 0 ]]
    reaches 'sni allowed.test' -o allowed.test ./direct ./client tls allowed.test 443 allowed.test
    inside -o allowed.test,other.test ./direct ./client tls allowed.test 443 other.test
    [[ $status -ne 0 ]]
    nobody_came 'sni other.test'
    nobody_came 'sni denied.test'
}

@test "E9: a ClientHello without a name passes for what was dialled" {
    reaches 'sni -' -o allowed.test ./client tls allowed.test 443 - allowed.test:443
    reaches 'sni -' -o allowed.test ./direct ./client tls allowed.test 443 -
    reaches 'sni -' -o 203.0.113.77 ./client tls 203.0.113.77 443 - 203.0.113.77:443
}

UPSTREAM=http://proxyuser:sbox-test-upstream-password@192.0.2.80:3128

@test "E16: the host's upstream proxy is chained after the decision, its password stays outside" {
    ENV=("HTTPS_PROXY=$UPSTREAM" "http_proxy=$UPSTREAM" NO_PROXY=denied.test,other.test)
    local way
    for way in '' ./direct; do
        # shellcheck disable=SC2086
        left sbox run -o allowed.test $way curl -sS --cacert ca.pem https://allowed.test/
        assert_status 0
        assert_output_has 'host allowed.test sni allowed.test'
        if grep -v '^tcp 192\.0\.2\.80 3128$' <<<"$left"; then fail "went past the upstream proxy"; fi
    done
    came 'upstream CONNECT allowed.test:443 known'
    reaches 'host allowed.test' -o allowed.test curl -sS http://allowed.test/
    nobody_came stranger
    inside -o allowed.test env
    refute_output_has upstream-password
    refute_output_has 192.0.2.80
    inside -o allowed.test sh -c 'cat /proc/*/environ /proc/*/cmdline | tr "\0" "\n"'
    refute_output_has upstream-password
}

@test "E16: denied hosts stay denied, and NO_PROXY of the host opens nothing" {
    ENV=("HTTPS_PROXY=$UPSTREAM" "HTTP_PROXY=$UPSTREAM" 'NO_PROXY=*' no_proxy=denied.test)
    local way
    for way in '' ./direct; do
        # shellcheck disable=SC2086
        nothing_left sbox run -o allowed.test $way curl -sS -f --cacert ca.pem https://denied.test/
        [[ $status -ne 0 ]]
        # shellcheck disable=SC2086
        nothing_left sbox run -o allowed.test $way curl -sS -f http://denied.test/
        [[ $status -ne 0 ]]
    done
    # without -o not even the upstream proxy is there
    nothing_left sbox run curl -sS -m 5 http://allowed.test/
    [[ $status -ne 0 ]]
}

@test "E19: slips of the pen are usage errors that show the right spelling" {
    nothing_left sbox run --allow-net-out allowed.test curl -sS http://allowed.test/
    assert_status 125
    assert_stderr_has '--allow-net-out=allowed.test'
    nothing_left sbox run --allow-net-out --allow-net-out=allowed.test curl -sS http://allowed.test/
    assert_status 125
    nothing_left sbox run -o allowed.test --allow-net-out curl -sS http://allowed.test/
    assert_status 125
    nothing_left sbox run --offline -o allowed.test curl -sS http://allowed.test/
    assert_status 125
    nothing_left sbox run -n --allow-net-out curl -sS http://allowed.test/
    assert_status 125
    nothing_left sbox run -n -p 3000 true
    assert_status 125
    nothing_left sbox run -n --allow-host-port 5432 true
    assert_status 125
    nothing_left sbox run curl -o
    nothing_left sbox run -o
    assert_status 125
    nothing_left sbox run -o --offline curl http://allowed.test/
    assert_status 125
}

@test "E19: the bare form opens the host's network and says every time that it is deprecated" {
    reaches 'host denied.test' --allow-net-out curl -sS http://denied.test/
    assert_stderr_has deprecated
    reaches 'host localhost' --allow-net-out curl -sS http://localhost/
    nothing_left sbox run curl -sS http://denied.test/
    [[ $status -ne 0 ]]
}

@test "told: each refused host once, a count at the end, the option that would allow it" {
    inside -o allowed.test sh -c 'for n in 1 2 3; do curl -s http://denied.test/; curl -s http://evil.test/; done; curl -s http://allowed.test/'
    assert_equal "$(grep -c 'refused: denied.test' <<<"$stderr")" 1
    assert_equal "$(grep -c 'refused: evil.test' <<<"$stderr")" 1
    assert_stderr_has '6 connections were refused'
    assert_stderr_has '-o denied.test,evil.test'
    inside -o allowed.test curl -sS http://allowed.test/
    assert_equal "$stderr" ''
}

@test "told: 403 carries a reason" {
    inside -o allowed.test curl -sS -i http://denied.test/
    assert_output_has 'HTTP/1.1 403 '
    grep -qi '^x-sbox' <<<"$output"
    assert_output_has denied.test
}

@test "told: names from inside are escaped before they reach a terminal" {
    printf 'GET http://\033]0;evil\007.test/ HTTP/1.1\r\nHost: x\r\n\r\n' >request
    inside -o allowed.test sh -c './client proxy <request; curl -sS --path-as-is "http://denied.test/" >/dev/null'
    if grep -q $'[\033\007]' <<<"$stderr"; then fail "raw control bytes"; fi
}

@test "journal: every connection, with what it carried; suggest names what the last run needed" {
    inside -o allowed.test,allowed.test:8080 sh -c 'curl -s http://allowed.test/bytes/100000 | wc -c; ./direct curl -s http://allowed.test:8080/
        curl -s http://denied.test/; ./direct ./client get other.test 5432'
    run --separate-stderr sbox log --net
    assert_status 0
    local host
    for host in allowed.test denied.test other.test; do assert_output_has "$host"; done
    run --separate-stderr sbox log --net --json
    assert_status 0
    jq -e '.schema == "sbox.log/1"' <<<"$output"
    jq -e '[.. | objects | select(.host? == "allowed.test" and .port? == 80 and .verdict? == "allowed" and .way? == "http")] |
        length == 1 and .[0].bytes_in >= 100000 and .[0].bytes_out > 0 and .[0].duration_us > 0 and
        (.[0].address == "2001:db8:1::10" or .[0].address == "203.0.113.10")' <<<"$output"
    jq -e '[.. | objects | select(.host? == "allowed.test" and .port? == 8080 and .way? == "transparent")] | length == 1' <<<"$output"
    jq -e '[.. | objects | select(.host? == "denied.test" and .verdict? == "not listed")] | length >= 1' <<<"$output"
    run --separate-stderr sbox suggest
    assert_status 0
    assert_output_has 'denied.test'
    assert_output_has 'allowed.test:8080'
    # what it prints is accepted as it stands
    # shellcheck disable=SC2046
    inside $(grep -oE -- '(--allow-net-out=|-o )[^ ]+' <<<"$output" | head -n 1) curl -sS http://denied.test/
    assert_status 0
    assert_output_has 'host denied.test'
}

@test "dry-run: names the list and reaches nothing" {
    nothing_left sbox run --dry-run -o ALLOWED.test.,db.test:5432 -p 3000 --allow-host-port 5432 true
    assert_status 0
    assert_output_has 'allowed.test:80,443'
    assert_output_has 'db.test:5432'
    assert_output_has 3000
    assert_equal "$(proxies)" ''
}
