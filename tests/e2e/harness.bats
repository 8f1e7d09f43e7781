# The harness itself: what every other file relies on.
load ../helpers/common

@test "harness: tests run as an ordinary user in a directory of their own" {
    [[ $(id -u) -ne 0 ]]
    [[ $HOME == "$T/home" && $PWD == "$P" && -w $P ]]
    case $P in /tmp/* | /var/tmp/*) fail "below /tmp: $P" ;; esac
}

@test "harness: bare gives a bare environment and what ENV adds" {
    EXTRA=leaks
    export EXTRA
    ENV=(ADDED=yes)
    run bare env
    assert_status 0
    assert_output_has ADDED=yes
    refute_output_has EXTRA
    refute_output_has BATS
}

@test "harness: a skip fails" {
    run skip "because"
    assert_status 1
}

@test "harness: the probe can read, so that a refusal inside means something" {
    mkdir "$HOME/.ssh"
    echo sbox-test-canary >"$HOME/.ssh/id_ed25519"
    run "$PROBE" read.home.ssh-key read.home.aws
    assert_equal "$output" $'read.home.ssh-key\tOK\nread.home.aws\tENOENT'
}
