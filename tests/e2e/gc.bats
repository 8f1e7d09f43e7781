#!/usr/bin/env bats
# sbox log, gc and forget: the history of locks, and what goes when nobody refers to it.

load ../helpers/common
load ../helpers/trees

snapshots()
{
    find "$HOME/$DATA/snapshots" -type f | sort
}

@test "log: the locks with date, fingerprint and counts; -p with the packages of each" {
    make_tree
    run --separate-stderr sbox log
    assert_status 2
    assert_stderr_has 'was never locked here'
    sbox lock
    add_package node_modules left-pad 1.3.0
    rm -r node_modules/beta
    sbox lock
    run --separate-stderr sbox log
    assert_status 0
    assert_equal "${#lines[@]}" 2
    [[ ${lines[0]} =~ ^[0-9]+\ \ 20[0-9-]+\ [0-9:]+\ \ [0-9a-f]{16}\ \ '1 tree, 3 packages, ' ]] || fail "$output"
    run --separate-stderr sbox log -p
    assert_status 0
    assert_output_has '    + left-pad 1.3.0'
    assert_output_has '    - beta 2.1.0'
    run --separate-stderr sbox log -p --json
    assert_equal "$(jq -r '.schema, (.result.locks | length), (.result.locks[0].changes | length)' <<<"$output" | xargs)" \
        'sbox.log/1 2 2'
}

@test "gc: what no lock refers to goes, what one does stays, in whatever project" {
    make_tree
    sbox lock
    mkdir ../second
    cp -a node_modules ../second/
    echo second >../second/node_modules/beta/index.js
    (cd ../second && sbox lock)
    assert_equal "$(snapshots | wc -l)" 5
    run sbox gc
    assert_status 0
    assert_output_has '0 copies removed'
    # what an interrupted lock leaves, and what is no snapshot at all
    mkdir -p "$HOME/$DATA/snapshots/ab"
    cp "$(snapshots | head -n 1)" "$HOME/$DATA/snapshots/ab/ab$(printf '0%.0s' {1..62}).tar.zst"
    echo junk >"$HOME/$DATA/snapshots/ab/junk"
    run sbox gc -n
    assert_output_has '2 copies would be removed'
    assert_equal "$(snapshots | wc -l)" 7
    run sbox gc --json
    assert_equal "$(jq -c '.result | [.removed, .kept]' <<<"$output")" '[2,5]'
    assert_equal "$(snapshots | wc -l)" 5
    (cd ../second && sbox forget)
    run sbox gc
    assert_output_has '1 copy removed'
    rm node_modules/alpha/index.js
    sbox restore
    run sbox verify
    assert_status 0
}

@test "forget: the trees are never locked then; also of a project that is gone" {
    make_tree
    sbox lock
    sbox lock
    run --separate-stderr sbox forget
    assert_status 0
    assert_output_has '2 locks'
    run --separate-stderr sbox verify
    assert_status 2
    assert_stderr_has 'was never locked here'
    inside true
    assert_status 120
    run --separate-stderr sbox forget
    assert_status 2
    assert_stderr_has 'no lock of'
    run sbox lock
    assert_status 0
    assert_output_has 'the first lock of this project'
    mkdir ../gone
    cp -a node_modules ../gone/
    (cd ../gone && sbox lock)
    rm -r ../gone
    run --separate-stderr sbox forget ../gone
    assert_status 0
    assert_output_has '1 lock'
    run sbox verify
    assert_status 0
}

@test "gc does not take what a running lock counts on, and refuses a damaged manifest" {
    make_tree
    sbox lock
    head -c 300000000 /dev/urandom >node_modules/alpha/big.bin
    in_host "$SBOX" lock
    wait_for 60 pgrep -P "${HOST_PIDS[-1]}" -x sbox-archive
    run sbox gc
    assert_status 0
    finish 60
    assert_equal "$status" 0
    rm node_modules/alpha/big.bin
    run sbox restore
    assert_status 0
    printf garbage | dd of="$HOME/$DATA/manifest.db" conv=notrunc status=none
    local before
    before=$(snapshots)
    run --separate-stderr sbox gc
    assert_status 2
    assert_equal "$(snapshots)" "$before"
}

@test "I11: kill -9 at random moments of gc: the lock and its copies stay" {
    make_tree
    local i round pid
    for i in $(seq 60); do add_package node_modules "package-$i" 1.0.0; done
    sbox lock
    set_bare
    for round in $(seq 20); do
        for i in $(seq 300); do
            mkdir -p "$HOME/$DATA/snapshots/$((i % 90 + 10))"
            : >"$HOME/$DATA/snapshots/$((i % 90 + 10))/junk-$i"
        done
        "${BARE[@]}" "$SBOX" gc >/dev/null 2>&1 3>&- &
        pid=$!
        sleep "0.00$((RANDOM % 10))"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        run sbox verify --fast
        assert_status 0
    done
    sbox gc
    rm -r node_modules
    run sbox restore
    assert_status 0
    run sbox verify
    assert_status 0
}
