# sbox-proxy by itself (tests/helpers/proxy_test.py): what servers and clients that misbehave show, how it
# is told and ended. The egress files test it from within a run.
load ../helpers/common

setup()
{
    PROXY=$(dirname "$SBOX")/sbox-proxy
}

@test "sbox-proxy alone: requests, tunnels, an upstream, publishing, reports, its end" {
    run --separate-stderr bare python3 "$HELPERS/proxy_test.py" "$PROXY"
    echo "$output"
    assert_status 0
    assert_equal "$stderr" ''
}

@test "sbox-proxy alone: arguments, an environment and a missing control socket change nothing" {
    run --separate-stderr bare "$PROXY" --help 3<&-
    assert_status 1
    assert_equal "$output$stderr" ''
}
