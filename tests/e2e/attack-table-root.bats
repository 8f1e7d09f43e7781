# The same as root: uid 0 without a capability owns much of the machine's files (C32).
# ctest-labels: root
load ../helpers/common
load ../helpers/attack

teardown()
{
    remove_targets
}

@test "C32: as root, each row answers as attack-table-root.expected says" {
    plant_targets
    attack "$SBOX" run ./probe all >"$T/inside.table"
    compare_tables "$E2E/attack-table-root.expected" "$T/inside.table"
    if [[ -s $HOME/probe.contacts ]]; then fail "$(sort "$HOME/probe.contacts" | uniq -c)"; fi
}

@test "C32: as root, the host's settings cannot be written and shadow cannot be read" {
    local before
    before=$(cat /proc/sys/kernel/core_pattern)
    inside sh -c 'echo "|/tmp/evil" >/proc/sys/kernel/core_pattern; cat /etc/shadow; for f in /proc/irq/*/smp_affinity; do echo 1 >$f && echo wrote; done; ls /root; id -u'
    refute_output_has root:
    refute_output_has wrote
    assert_equal "$(cat /proc/sys/kernel/core_pattern)" "$before"
}

@test "C32: as root, low ports may be bound inside, and the host's setting stays" {
    local before
    before=$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)
    inside /usr/bin/python3 -c 'import socket; socket.create_server(("127.0.0.1", 80)); print("bound")'
    assert_equal "$output" bound
    assert_equal "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" "$before"
}

@test "C32: as root, private files below /etc stay private" {
    plant_file /etc/sbox-test-private "$CANARY"
    chmod 600 /etc/sbox-test-private
    inside cat /etc/sbox-test-private
    rm -f /etc/sbox-test-private
    refute_output_has "$CANARY"
    [[ $status -ne 0 ]]
}

@test "C32: as root, a project of another user works by mapping, or is refused with a line" {
    chown -R "$(stat -c %u:%g "$REAL_HOME")" "$P"
    inside sh -c 'touch made'
    if [[ $status -eq 0 ]]; then
        assert_equal "$(stat -c %u made)" "$(stat -c %u "$REAL_HOME")"
    else
        assert_status 125
        assert_stderr_has 'sbox: '
        [[ ! -e made ]]
    fi
}
