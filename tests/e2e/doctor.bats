# sbox doctor: what it says is what the machine does.
load ../helpers/common

@test "every layer holds here, and nothing is left behind" {
    run --separate-stderr sbox doctor
    assert_status 0
    local layer
    for layer in kernel landlock seccomp namespaces capabilities 'system calls' masks \
        'read-only system' processes network 'locked trees'; do
        grep -q "^$layer  *holds" <<<"$output" || fail "$layer: $output"
    done
    if compgen -G '/tmp/sbox-doctor-*'; then fail "left behind"; fi
}

@test "--json says the same" {
    run --separate-stderr sbox doctor --json
    assert_status 0
    assert_equal "$(jq -r .schema <<<"$output")" sbox.doctor/1
    assert_equal "$(jq '[.result.layers[] | select(.state != "holds")] | length' <<<"$output")" 0
}

# An own user namespace may forbid those below it.
@test "without user namespaces it names the setting" {
    run --separate-stderr bare unshare -Ur sh -c \
        'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" doctor' "$SBOX"
    assert_status 1
    [[ $output == *missing*user.max_user_namespaces* ]]
    if compgen -G '/tmp/sbox-doctor-*'; then fail "left behind"; fi
}
