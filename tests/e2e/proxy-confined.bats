# sbox-proxy reads what attackers send. What a bug in it would give them is little: it has confined itself
# before it reads the first byte.
load ../helpers/common

setup()
{
    setup_project
    CONFINED=$SBOX_BIN_DIR/proxy-confined
}

@test "unconfined, the attacks work, so that a refusal means something" {
    run bare "$CONFINED" --bare
    assert_status 0
    local row
    for row in file.create file.list-root file.read-passwd file.remove file.truncate kernel.unshare \
        process.exec process.fork process.mmap-exec socket.listen socket.unix socket.udp; do
        assert_output_has "$row"$'\tOK'
    done
}

@test "confined, each row answers as proxy-confined.expected says" {
    run bare "$CONFINED"
    assert_status 0
    assert_equal "$output" "$(grep -v '^#' "$E2E/proxy-confined.expected")"
}

@test "the proxy of a run is confined: filter, no new privileges, no capability, no processes, nobody looks in" {
    in_host "$SBOX" run -o allowed.example sh -c 'touch up; while [ ! -e stop ]; do sleep 0.05; done'
    wait_for 20 test -e up
    local child proxy=
    for child in $(descendants "${HOST_PIDS[-1]}"); do
        if [[ $(cat "/proc/$child/comm") == sbox-proxy ]]; then proxy=$child; fi
    done
    [[ -n $proxy ]]
    assert_equal "$(awk '/^(Seccomp|NoNewPrivs|CapPrm|CapEff|CapAmb):/ { print $1, $2 }' "/proc/$proxy/status")" \
        $'CapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2'
    assert_equal "$(awk '/^Max (processes|file size)/ { print $(NF - 2), $(NF - 1) }' "/proc/$proxy/limits" | sort -u)" '0 0'
    run ls "/proc/$proxy/fd"
    [[ $status -ne 0 ]]
    run cat "/proc/$proxy/environ"
    [[ $status -ne 0 ]]
    run strace -qq -p "$proxy" -e trace=none
    [[ $status -ne 0 ]]
    touch stop
    finish 20
    assert_equal "$status" 0
}
