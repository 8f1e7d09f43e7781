# Loaded after common by the egress tests, which run-bats starts in egress/world:
#
#     $EGRESS_DIR       ca.pem, known_hosts, contacts.log (who came), wire.log (what left)
#     nothing_left CMD…     runs CMD and fails when one packet left the machine meanwhile
#     left CMD…             the same, but $left is what left, one line each
#     came PATTERN          a line of contacts.log since the test's start matches
#     direct CMD…           CMD with every proxy variable taken away (a command, for use inside)
#
# Every address outside answers on 80, 8080, 443, 8443 (HTTP says "at ADDRESS PORT host H sni S"), 7 (echo),
# 25 (speaks first), 9007 (counts until the half-close), 8081 and 8444 (WebSocket echo), 22 (git),
# 6379 (redis), 3128 (proxy of a company). The host itself has 80, 443, 2525 and 5432 (echo) on its loopback.

WIRE=${EGRESS_DIR:?the label egress is missing in this file\'s header}/wire.log
CONTACTS=$EGRESS_DIR/contacts.log
MARKS=0

setup()
{
    setup_egress
}

setup_egress()
{
    setup_project
    cp "$EGRESS_DIR/ca.pem" "$P/ca.pem"
    cp "$HELPERS/egress/direct" "$HELPERS/egress/client" "$P"
    CONTACTS_BEFORE=$(wc -l <"$CONTACTS")
}

# A mark in the log: the host looks a name up, and the packet has been written down.
mark_wire()
{
    MARKS=$((MARKS + 1))
    local name="mark-$MARKS-$$-$BATS_TEST_NUMBER.mark.example"
    getent ahostsv4 "$name" >/dev/null
    wait_for 10 grep -q "$name" "$WIRE"
    WIRE_MARK=$(grep -n "$name" "$WIRE" | tail -n 1 | cut -d: -f1)
}

# Sets $left, and $status, $output, $stderr as run does.
left()
{
    mark_wire
    local before=$WIRE_MARK
    run --separate-stderr "$@"
    mark_wire
    left=$(sed -n "$((before + 1)),${WIRE_MARK}p" "$WIRE" | grep -v '\.mark\.example$' || true)
}

nothing_left()
{
    left "$@"
    if [[ -n $left ]]; then
        fail "left the machine:" "$left" "stdout: $output" "stderr: $stderr"
    fi
}

# The lines of contacts.log since the test's start, without the marks.
contacts()
{
    tail -n "+$((CONTACTS_BEFORE + 1))" "$CONTACTS" | grep -v '\.mark\.example '
}

came()
{
    if ! contacts | grep -q -- "$1"; then
        fail "nobody came like: $1" "stderr: ${stderr:-}" "$(contacts)"
    fi
}

nobody_came()
{
    local found
    found=$(contacts | grep -- "$1" || true)
    if [[ -n $found ]]; then fail "came: $found"; fi
}

# The proxy as curl's SOCKS options take it.
socks_inside()
{
    echo 198.18.0.1:3128
}

# As in common, but a test that is about the proxy's port says PROXY_ENV=--proxy-env, and each run with a
# list of hosts has the proxy variables.
sbox()
{
    if [[ $1 == run && -n ${PROXY_ENV:-} && " $* " == *" -o "* ]]; then
        shift
        set -- run "$PROXY_ENV" "$@"
    fi
    bare "$SBOX" "$@"
}

# The key for git.test in the project, and $GIT_SSH, how git calls ssh.
ssh_key()
{
    cp "$EGRESS_DIR/ssh.key" "$EGRESS_DIR/known_hosts" "$P"
    chmod 0600 "$P/ssh.key"
    GIT_SSH="ssh -F none -i $P/ssh.key -o UserKnownHostsFile=$P/known_hosts"
}

# The processes of sbox-proxy of this test's user that are not zombies.
proxies()
{
    pgrep -u "$(id -u)" -x sbox-proxy || true
}

# inside -o HOSTS CMD…: succeeds and prints this
reaches()
{
    local expected=$1
    shift
    inside "$@"
    assert_status 0
    assert_output_has "$expected"
}
