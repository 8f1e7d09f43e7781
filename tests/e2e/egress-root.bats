# cases/egress E7: what another user of the machine gets of a run. As root, who alone can be two users.
# ctest-labels: root egress
load ../helpers/common
load ../helpers/egress

setup()
{
    RUNNER=$(stat -c %U "$REAL_HOME")
    setup_egress
    chmod 0755 "$REAL_HOME" "$T" "$HOME" "$P"
    chown -R "$RUNNER:" "$T"
    HOST_PIDS=()
}

# as USER CMD…
as()
{
    local user=$1
    shift
    set_bare
    "${BARE[@]}" setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$@"
}

@test "E7: another user reaches neither the proxy nor the sandbox of a run" {
    as "$RUNNER" "$SBOX" run -o allowed.test -p 3000 sh -c 'touch up; while [ ! -e stop ]; do sleep 0.05; done' 3>&- >"$T/run.out" 2>&1 &
    local run=$! proxy init
    wait_for 20 test -e "$P/up"
    proxy=$(pgrep -u "$RUNNER" -x sbox-proxy)
    [[ -n $proxy ]]
    run as nobody ls -l "/proc/$proxy/fd"
    [[ $status -ne 0 ]]
    run as nobody nsenter -t "$proxy" -n true
    [[ $status -ne 0 ]]
    for init in $(descendants "$run"); do
        run as nobody nsenter -t "$init" -U -n --preserve-credentials true
        [[ $status -ne 0 ]]
    done
    run as nobody curl -sS -m 2 -x http://198.18.0.1:3128 http://allowed.test/
    if [[ $output == *'at 203'* || $output == *'at 2001'* ]]; then fail "$output"; fi
    run as nobody kill -9 "$proxy"
    [[ $status -ne 0 ]]
    touch "$P/stop"
    wait "$run"
    assert_equal "$(pgrep -u "$RUNNER" -x sbox-proxy || true)" ''
}

@test "E7: root's own runs confine the proxy as well" {
    chown -R root: "$T"
    run --separate-stderr sbox run -o allowed.test curl -sS http://allowed.test/
    assert_status 0
    assert_output_has 'host allowed.test'
    nothing_left sbox run -o allowed.test curl -sS -f http://denied.test/
    assert_status 6
}
