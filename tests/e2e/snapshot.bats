#!/usr/bin/env bats
# ctest-timeout: 600
# Copies of the packages' content: made with the lock, whole or not at all, once for all projects.

load ../helpers/common
load ../helpers/trees

snapshots()
{
    find "$HOME/$DATA/snapshots" -type f | sort
}

# Every file there is a whole archive with its name where it belongs.
assert_whole()
{
    local file
    while IFS= read -r file; do
        [[ $file =~ /([0-9a-f]{2})/([0-9a-f]{64})\.tar\.zst$ && ${BASH_REMATCH[2]} == "${BASH_REMATCH[1]}"* ]] ||
            fail "not a snapshot: $file"
        tar --zstd -tf "$file" >/dev/null 2>&1 || fail "damaged: $file"
    done < <(snapshots)
}

@test "lock keeps one archive a package; what is there is not made again, in no project" {
    make_tree
    run sbox lock -v
    assert_status 0
    assert_output_has 'snapshots: 4 new'
    assert_equal "$(snapshots | wc -l)" 4
    assert_whole
    assert_equal "$(find "$HOME/$DATA/snapshots" -perm /077)" ""
    run sbox lock -v
    assert_output_has 'snapshots: 0 new, 4 there already'
    echo changed >>node_modules/beta/index.js
    run sbox lock --json
    assert_equal "$(jq -c '.result.snapshots | [.made, .there]' <<<"$output")" '[1,3]'
    mkdir ../second
    cp -a node_modules ../second/
    cd ../second
    run sbox lock -v
    assert_output_has 'snapshots: 0 new, 4 there already'
}

@test "an archive holds the bytes: any name, links, modes" {
    make_tree
    printf weird >node_modules/alpha/$'we\xffird\nname'
    mkfifo node_modules/alpha/fifo
    sbox lock
    local file found=
    while IFS= read -r file; do
        if tar --zstd -tf "$file" 2>/dev/null | grep -q cli.sh; then found=$file; fi
    done < <(snapshots)
    mkdir "$T/out"
    tar --zstd -xf "$found" -C "$T/out" 2>/dev/null
    rm node_modules/alpha/fifo
    diff -r node_modules/alpha "$T/out"
    [[ -x $T/out/cli.sh ]]
}

@test "a virtual environment: packages that are one file, a link, a FIFO" {
    make_venv .venv
    ln -s wheel_a.py .venv/lib/python3.11/site-packages/link.py
    mkfifo .venv/lib/python3.11/site-packages/fifo
    run sbox lock -v
    assert_status 0
    assert_output_has 'snapshots: 5 new'
    assert_whole
}

@test "--no-snapshot keeps none; status -v says what there is" {
    make_tree
    sbox lock --no-snapshot
    [[ ! -e $HOME/$DATA/snapshots ]]
    run sbox status -v
    assert_status 0
    assert_output_has "copies  none ('sbox lock' makes them)"
    sbox lock
    run sbox status -v
    assert_status 0
    [[ $output =~ 'copies  '[0-9.]+' '[kM]?B?(bytes)?' for ' ]] || fail "$output"
    rm "$(snapshots | head -n 1)"
    run sbox status -v
    assert_output_has 'missing for 1 package'
}

@test "sbox-archive is confined while it reads a tree, and ends with sbox" {
    make_tree
    head -c 600000000 /dev/urandom >node_modules/alpha/big.bin
    in_host "$SBOX" lock
    wait_for 60 pgrep -P "${HOST_PIDS[-1]}" -x sbox-archive
    local pid
    pid=$(pgrep -P "${HOST_PIDS[-1]}" -x sbox-archive | head -n 1)
    wait_for 10 grep -q '^Seccomp:[[:space:]]2' "/proc/$pid/status"
    assert_equal "$(awk '/^(Seccomp|NoNewPrivs|CapPrm|CapEff):/ { print $1, $2 }' "/proc/$pid/status")" \
        $'CapPrm: 0000000000000000\nCapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2'
    assert_equal "$(awk '/^Max (processes)/ { print $(NF - 2), $(NF - 1) }' "/proc/$pid/limits")" '0 0'
    run ls "/proc/$pid/fd"
    [[ $status -ne 0 ]]
    kill -9 "${HOST_PIDS[-1]}"
    wait_for 10 has_ended "$pid"
    run --separate-stderr sbox verify
    assert_status 2
}

@test "killed sbox-archive: said, nothing locked" {
    make_tree
    head -c 600000000 /dev/urandom >node_modules/alpha/big.bin
    in_host "$SBOX" lock
    wait_for 60 pgrep -P "${HOST_PIDS[-1]}" -x sbox-archive
    pkill -9 -P "${HOST_PIDS[-1]}" -x sbox-archive
    finish 60
    assert_equal "$status" 2
    grep -q 'sbox-archive ended before its work was done' "$T/host.err"
    run sbox verify
    assert_status 2
}

@test "I11: kill -9 at random moments: the previous lock verifies, every snapshot there is whole" {
    make_tree
    local i
    for i in $(seq 60); do add_package node_modules "package-$i" 1.0.0; done
    sbox lock
    local round pid killed=0
    set_bare
    for round in $(seq 100); do
        for i in $(seq 60); do echo "round $round" >"node_modules/package-$i/index.js"; done
        "${BARE[@]}" "$SBOX" lock >/dev/null 2>&1 3>&- &
        pid=$!
        sleep "0.0$((RANDOM % 100 + 10))"
        if kill -9 "$pid" 2>/dev/null; then killed=$((killed + 1)); fi
        wait "$pid" 2>/dev/null || true
        run --separate-stderr sbox verify --fast
        [[ $status -le 1 ]] || fail "round $round: $status: $stderr"
        if [[ $killed -eq 40 ]]; then break; fi
    done
    [[ $killed -ge 20 ]] || fail "only $killed of $round were killed in time"
    assert_whole
    run sbox lock
    assert_status 0
    run sbox verify
    assert_status 0
}

@test "I11: a full disk: said, the previous lock stays, no half of a snapshot" {
    make_tree
    run in_namespace '
        mkdir -p "$HOME/.local/share"
        mount -t tmpfs -o size=2M none "$HOME/.local/share"
        "$1" lock >/dev/null
        head -c 5M /dev/urandom >node_modules/alpha/large
        "$1" lock && exit 70
        [[ $? == 2 ]]
        "$1" verify >/dev/null && exit 71
        [[ $? == 1 ]] || exit 72
        [[ $(find "$HOME/.local/share/sbox/snapshots" -type f | wc -l) == 4 ]] || exit 73
        "$1" lock --no-snapshot || exit 74
        "$1" verify' "$SBOX"
    assert_status 0
    assert_output_has 'no space left'
    assert_output_has "'--no-snapshot' locks without"
    assert_output_has 'the same as locked'
}
