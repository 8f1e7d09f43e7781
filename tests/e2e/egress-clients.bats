# cases/egress E11 to E13 and E20: real clients reach an allowed host without being told how, through the
# proxy variables and with them removed, and no other host either way.
# ctest-labels: egress
# ctest-timeout: 600
load ../helpers/common
load ../helpers/egress

# both EXPECTED URL-DEPENDENT CMD…: HOST in the command's words stands for the host. It succeeds for
# allowed.test with --proxy-env, without any proxy variable, and as it comes; for denied.test it fails
# in all three and nothing leaves the machine.
everyway()
{
    local expected=$1 way words
    shift
    for way in --proxy-env ./direct ''; do
        words=("${@//HOST/allowed.test}")
        # shellcheck disable=SC2086
        reaches "$expected" -o allowed.test "${OPTIONS[@]}" $way "${words[@]}"
        words=("${@//HOST/denied.test}")
        # shellcheck disable=SC2086
        nothing_left sbox run -o allowed.test "${OPTIONS[@]}" $way "${words[@]}"
        if [[ $output == *"at 203.0.113.66"* ]]; then fail "reached: $output"; fi
        assert_stderr_has 'refused: denied.test'
    done
    nobody_came denied
}

@test "E12: curl, http and https, IPv4 and IPv6" {
    OPTIONS=()
    everyway 'host allowed.test' curl -sS -f http://HOST/
    everyway 'host allowed.test sni allowed.test' curl -sS -f --cacert ca.pem https://HOST/
    everyway 'host allowed.test sni allowed.test' curl -sS -f -4 --cacert ca.pem https://HOST/
    # the proxy has an IPv4 address: who insists on IPv6 goes without it
    reaches 'sni allowed.test' -o allowed.test ./direct curl -sS -f -6 --cacert ca.pem https://allowed.test/
    reaches 'at 2001:db8:1::10 443' -o v6only.test ./direct curl -sS --cacert ca.pem https://v6only.test/
    reaches 'at 203.0.113.10 443' -o v4only.test ./direct curl -sS --cacert ca.pem https://v4only.test/
}

@test "E12: curl by SOCKS5 and SOCKS5h" {
    local way
    for way in --socks5-hostname --socks5; do
        reaches 'host allowed.test' -o allowed.test curl -sS "$way" "$(socks_inside)" http://allowed.test/
        reaches 'sni allowed.test' -o allowed.test curl -sS "$way" "$(socks_inside)" --cacert ca.pem https://allowed.test/
        nothing_left sbox run -o allowed.test curl -sS "$way" "$(socks_inside)" http://denied.test/
        [[ $status -ne 0 ]]
    done
}

@test "E12: a client that resolves by itself and names the address to the proxy" {
    PROXY_ENV=--proxy-env
    reaches 'sni allowed.test' -o allowed.test sh -c './client tls allowed.test 443 allowed.test \
        "$(getent ahostsv4 allowed.test | head -n 1 | cut -d" " -f1):443"'
    inside -o allowed.test,other.test sh -c './client tls other.test 443 other.test \
        "$(getent ahostsv4 allowed.test | head -n 1 | cut -d" " -f1):443"'
    [[ $status -ne 0 ]]
    assert_stderr_has 'another name'
}

@test "E12: wget" {
    OPTIONS=()
    everyway 'host allowed.test' wget -q -O - http://HOST/
    everyway 'host allowed.test sni allowed.test' wget -q -O - --ca-certificate=ca.pem https://HOST/
}

@test "E12: node, fetch and https" {
    OPTIONS=(-e "NODE_EXTRA_CA_CERTS=$P/ca.pem")
    everyway 'host allowed.test' node -e 'fetch("http://HOST/").then(r => r.text()).then(console.log)'
    everyway 'sni allowed.test' node -e 'fetch("https://HOST/").then(r => r.text()).then(console.log)'
    everyway 'sni allowed.test' node -e 'require("https").get("https://HOST/", r => r.pipe(process.stdout))'
}

@test "E12: Python, urllib and http.client" {
    OPTIONS=(-e "SSL_CERT_FILE=$P/ca.pem")
    everyway 'host allowed.test' /usr/bin/python3 -c '
import urllib.request as u; print(u.urlopen("http://HOST/").read().decode())'
    everyway 'sni allowed.test' /usr/bin/python3 -c '
import urllib.request as u; print(u.urlopen("https://HOST/").read().decode())'
    everyway 'sni allowed.test' /usr/bin/python3 -c '
import http.client as h; c = h.HTTPSConnection("HOST"); c.request("GET", "/"); print(c.getresponse().read().decode())'
}

@test "E12: Python, requests and aiohttp" {
    OPTIONS=(-e "SSL_CERT_FILE=$P/ca.pem" -e "REQUESTS_CA_BUNDLE=$P/ca.pem")
    everyway 'sni allowed.test' /usr/bin/python3 -c '
import requests; r = requests.get("https://HOST/"); r.raise_for_status(); print(r.text)'
    everyway 'sni allowed.test' /usr/bin/python3 -c '
import asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=True) as s:
        async with s.get("https://HOST/") as r:
            r.raise_for_status(); print(await r.text())
asyncio.run(main())'
}

@test "E12: apt's downloader" {
    OPTIONS=()
    everyway 'host allowed.test' sh -c '/usr/lib/apt/apt-helper download-file http://HOST/ got >&2 && cat got; rm -f got'
}

@test "E12: git over https" {
    local way
    for way in --proxy-env ./direct ''; do
        rm -rf repo
        # shellcheck disable=SC2086
        inside -o git.test $way git -c "http.sslCAInfo=$P/ca.pem" clone -q https://git.test/git/repo.git
        assert_status 0
        assert_equal "$(cat repo/README)" 'from outside'
        # shellcheck disable=SC2086
        nothing_left sbox run -o allowed.test $way git -c "http.sslCAInfo=$P/ca.pem" ls-remote https://git.test/git/repo.git
        [[ $status -ne 0 ]]
    done
}

@test "E12: git over ssh" {
    ssh_key
    local url="ssh://$(id -un)@git.test$EGRESS_DIR/git/repo.git" way
    for way in --proxy-env ./direct ''; do
        rm -rf repo
        # shellcheck disable=SC2086
        inside -o git.test:22 -e "GIT_SSH_COMMAND=$GIT_SSH" $way git clone -q "$url"
        assert_status 0
        assert_equal "$(cat repo/README)" 'from outside'
        # shellcheck disable=SC2086
        nothing_left sbox run -o git.test -e "GIT_SSH_COMMAND=$GIT_SSH" $way git ls-remote "$url"
        [[ $status -ne 0 ]]
    done
}

@test "E13: redis-cli to a real server, and only to that one" {
    local way
    for way in '' ./direct; do
        # shellcheck disable=SC2086
        inside -o other.test:6379 $way redis-cli -h other.test set "key$way" value
        assert_equal "$output" OK
        # shellcheck disable=SC2086
        inside -o other.test:6379 $way redis-cli -h other.test get "key$way"
        assert_equal "$output" value
        # shellcheck disable=SC2086
        nothing_left sbox run -o other.test:6379 $way redis-cli -h allowed.test ping
        [[ $output != PONG ]]
    done
}

@test "E13: plain TCP by name, by bash itself" {
    inside -o other.test:25 bash -c 'exec 3<>/dev/tcp/other.test/25; head -n 1 <&3'
    assert_equal "$output" $'220 outside speaks first\r'
    nothing_left sbox run -o other.test:25 bash -c 'exec 3<>/dev/tcp/other.test/80'
    [[ $status -ne 0 ]]
}

@test "E11: a server that speaks first, through CONNECT, SOCKS and transparently" {
    PROXY_ENV=--proxy-env
    reaches $'220 outside speaks first\r\nheard hello' -o allowed.test:25 ./client banner allowed.test 25
    printf 'CONNECT allowed.test:25 HTTP/1.1\r\nHost: allowed.test:25\r\n\r\n' >request
    inside -o allowed.test:25 sh -c './client proxy 1 <request'
    assert_output_has '200'
    assert_output_has '220 outside speaks first'
    inside -o allowed.test:25 curl -s -m 1 --socks5-hostname "$(socks_inside)" telnet://allowed.test:25
    assert_output_has '220 outside speaks first'
}

@test "E11: a half-closed connection carries the answer" {
    PROXY_ENV=--proxy-env
    reaches 1000000 -o allowed.test:9007 ./client half-close allowed.test 9007 1000000
    { printf 'CONNECT allowed.test:9007 HTTP/1.1\r\nHost: allowed.test:9007\r\n\r\n'; head -c 300000 /dev/zero; } >request
    inside -o allowed.test:9007 /usr/bin/python3 -c '
import os, socket, urllib.parse as u
a = u.urlsplit(os.environ["http_proxy"]); s = socket.create_connection((a.hostname, a.port))
s.sendall(open("request", "rb").read()); s.shutdown(socket.SHUT_WR)
print(s.makefile("rb").read().decode())'
    assert_output_has 300000
}

@test "E11: WebSocket, plain and TLS, idle for a while" {
    local way
    for way in '' ./direct; do
        # shellcheck disable=SC2086
        reaches 'echo hello' -o allowed.test:8081 $way ./client websocket ws://allowed.test:8081/ 3
        # shellcheck disable=SC2086
        reaches 'echo hello' -o allowed.test:8444 -e "SSL_CERT_FILE=$P/ca.pem" $way ./client websocket wss://allowed.test:8444/ 1
    done
    nothing_left sbox run -o allowed.test ./client websocket ws://denied.test:8081/
    [[ $status -ne 0 ]]
}

@test "E11: an upgrade inside an absolute-form request becomes a tunnel" {
    PROXY_ENV=--proxy-env
    printf 'GET http://allowed.test:8081/ HTTP/1.1\r\nHost: allowed.test:8081\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n' >request
    inside -o allowed.test:8081 sh -c './client proxy 2 <request'
    assert_output_has '101 Switching Protocols'
}

@test "E11: uploads and downloads arrive byte for byte" {
    head -c 3000000 /dev/urandom >blob
    local sum way
    sum=$(md5sum <blob)
    for way in '' ./direct; do
        # shellcheck disable=SC2086
        inside -o allowed.test:7 $way /usr/bin/python3 -c '
import hashlib, socket, threading
s = socket.create_connection(("allowed.test", 7)); data = open("blob", "rb").read()
threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR))).start()
print(hashlib.md5(s.makefile("rb").read()).hexdigest() + "  -")'
        assert_equal "$output" "$sum"
    done
    inside -o allowed.test curl -sS -f --data-binary @blob -H 'Transfer-Encoding: chunked' -o reply http://allowed.test/bytes/1234567
    assert_status 0
    assert_equal "$(stat -c %s reply)" 1234567
}

@test "E20: no proxy variables inside but with --proxy-env, and the host's never come in" {
    ENV=(http_proxy=http://192.0.2.80:3128 NO_PROXY=localhost ALL_PROXY=socks5://192.0.2.80:1080)
    inside -o v4only.test sh -c 'env | grep -i proxy'
    assert_status 1
    assert_equal "$output" ''
    inside -o v4only.test --proxy-env sh -c 'env | grep -i _proxy'
    refute_output_has 192.0.2.80
    assert_output_has HTTPS_PROXY=
    assert_output_has https_proxy=
    inside env
    refute_output_has _proxy
}

@test "E15: what the variables leave out: loopback needs no proxy" {
    inside -o allowed.test sh -c './client serve 127.0.0.1 0 >port & while ! grep -q listening port; do sleep 0.02; done
        p=$(cut -d" " -f2 port); curl -sS "http://127.0.0.1:$p/"; curl -sS "http://localhost:$p/"
        /usr/bin/python3 -c "import sys, urllib.request as u; print(u.urlopen(\"http://localhost:\" + sys.argv[1]).read())" "$p"; kill $!'
    assert_equal "$(grep -c 'from inside' <<<"$output")" 3
    assert_equal "$stderr" ''
}

@test "E15, E18: servers inside bind ports that are allowed outwards, and random ones, and are reached" {
    inside -o allowed.test:443,allowed.test:8443,allowed.test:5432,allowed.test:80 ./direct sh -c '
        ./client serve 0.0.0.0 443 & ./client serve :: 8443 & ./client serve 127.0.0.1 5432 & ./client serve 0.0.0.0 80 &
        while [ $(ss -Hltn | wc -l) -lt 4 ]; do sleep 0.05; done
        ./client get 127.0.0.1 443; ./client get ::1 8443; ./client get 127.0.0.1 5432; ./client get localhost 80
        curl -sS --cacert ca.pem https://allowed.test/; kill $(jobs -p)'
    assert_equal "$(grep -c 'from inside' <<<"$output")" 4
    assert_output_has 'host allowed.test sni allowed.test'
    # with no network option, too
    inside sh -c './client serve 0.0.0.0 443 >listening & while [ ! -s listening ]; do sleep 0.05; done; ./client get 127.0.0.1 443; kill $!'
    assert_output_has 'from inside'
}

@test "a resolver inside: what is asked beside addresses gets an empty answer, and nothing leaves" {
    nothing_left sbox run -o allowed.test /usr/bin/python3 -c '
import socket, struct
def ask(name, kind):
    q = struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0" + struct.pack("!HH", kind, 1)
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
    s.sendto(q, (open("/etc/resolv.conf").read().split()[1], 53)); r = s.recv(4096)
    return r[3] & 15, struct.unpack("!H", r[6:8])[0]
print([ask("allowed.test", k) for k in (1, 28, 16, 33, 65, 15)], [ask("evil.test", k) for k in (1, 28, 16)])'
    assert_equal "$output" '[(0, 1), (0, 1), (0, 0), (0, 0), (0, 0), (0, 0)] [(3, 0), (3, 0), (3, 0)]'
}
