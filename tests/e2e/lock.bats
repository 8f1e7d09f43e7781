#!/usr/bin/env bats
# ctest-timeout: 600
# sbox lock: what it records and says, and that it is all or nothing (integrity I1, I7, I9 to I12).

load ../helpers/common
load ../helpers/trees

# locks [ARG…], quietly; then verify agrees.
lock_and_verify()
{
    run --separate-stderr sbox lock "$@"
    assert_status 0
    run --separate-stderr sbox verify
    assert_status 0
}

# fails_with STATUS TEXT ARG…
fails_with()
{
    run --separate-stderr sbox "${@:3}"
    assert_status "$1"
    assert_stderr_has "$2"
    assert_equal "${#stderr_lines[@]}" 1
}

fingerprint()
{
    sbox verify --json | jq -er .result.lock.fingerprint
}

@test "the first lock: one summary, one private data directory, nothing in the project" {
    make_tree
    local before
    before=$(find . | sort)
    run --separate-stderr sbox lock
    assert_status 0
    assert_equal "$stderr" ""
    assert_output_has 'locked 1 tree: 3 packages, '
    assert_output_has 'the first lock of this project'
    [[ $output =~ fingerprint\ [0-9a-f]{16} ]] || fail "$output"
    assert_equal "$(find . | sort)" "$before"
    assert_equal "$(stat -c %a "$HOME/$DATA")" 700
    run --separate-stderr sbox verify
    assert_status 0
    assert_output_has 'the same as locked: 1 tree, 3 packages'
}

@test "changes since the last lock, by package" {
    make_tree
    sbox lock
    run sbox lock
    assert_status 0
    assert_output_has 'nothing changed since the last lock'
    add_package node_modules left-pad 1.3.0
    rm -r node_modules/beta
    add_package node_modules alpha 1.1.0
    echo evil >>node_modules/@scope/gamma/index.js
    run sbox lock
    assert_status 0
    assert_output_has 'changed since the last lock:'
    assert_output_has '  + left-pad 1.3.0'
    assert_output_has '  - beta 2.1.0'
    assert_output_has '  ~ alpha 1.0.0 -> 1.1.0'
    assert_output_has '  ! @scope/gamma 0.3.0 content changed, version did not'
    run sbox lock
    assert_output_has 'nothing changed since the last lock'
}

@test "many changes: the first 20 and a count; -v lists all; -q says nothing" {
    make_tree
    sbox lock
    local i
    for i in $(seq -w 25); do add_package node_modules "new-$i" 1.0.0; done
    run sbox lock -q
    assert_status 0
    assert_equal "$output" ""
    rm -r node_modules/new-*
    run sbox lock
    assert_equal "$(grep -c '^  - new-' <<<"$output")" 20
    assert_output_has '  and 5 more (-v lists all)'
    for i in $(seq -w 25); do add_package node_modules "new-$i" 1.0.0; done
    run sbox lock -v
    assert_equal "$(grep -c '^  + new-' <<<"$output")" 25
}

@test "trees at any depth, of every kind, named with what they hold" {
    make_tree
    make_venv .venv
    add_package packages/a/node_modules delta 1.0.0
    run --separate-stderr sbox lock
    assert_status 0
    assert_output_has 'locked 3 trees: '
    assert_output_has '  node_modules '
    assert_output_has '  packages/a/node_modules '
    assert_output_has '  .venv '
    sbox lock --json | jq -e '[.result.trees[] | [.path, .kind]] | sort ==
        [[".venv", "venv"], ["node_modules", "node_modules"],
         ["packages/a/node_modules", "node_modules"]]'
}

@test "--json: the shape of the document" {
    make_tree
    run --separate-stderr sbox lock --json
    assert_status 0
    assert_equal "$stderr" ""
    jq -e --arg root "$P" '
        .schema == "sbox.lock/1" and .root == $root and .exit == 0 and .error == null
        and (.result | .first and .changes == [] and .links == [] and .caches == []
             and .packages == 3 and .entries > 10 and .bytes > 100
             and (.time | test("^20[0-9-]+T[0-9:]+Z$"))
             and (.fingerprint, .local | test("^[0-9a-f]{64}$")))
        and (.result.trees | length == 1 and (.[0] | .path == "node_modules" and (.carried | not)))
        ' <<<"$output"
    add_package node_modules alpha 1.0.1
    sbox lock --json | jq -e '.result.changes == [{"change": "version", "tree": "node_modules",
        "path": "alpha", "package": "alpha", "was": "1.0.0", "is": "1.0.1"}]'
}

@test "no trees, and a PATH that is not there: 2, nothing written" {
    fails_with 2 'no dependency trees' lock
    [[ ! -e $HOME/.local ]] || fail "written: $(find "$HOME/.local")"
    fails_with 2 'nowhere' lock nowhere
    [[ ! -e $HOME/.local ]] || fail "written: $(find "$HOME/.local")"
    fails_with 2 'probe' lock probe
    [[ ! -e $HOME/.local ]] || fail "written: $(find "$HOME/.local")"
    fails_with 2 'never locked' verify
    fails_with 2 'never locked' status
    [[ ! -e $HOME/.local ]] || fail "written: $(find "$HOME/.local")"
    make_tree
    lock_and_verify
    fails_with 2 'nowhere' lock nowhere
    run sbox verify
    assert_status 0
}

@test "a PATH: exactly that tree; the others are carried forward" {
    make_tree
    add_package packages/a/node_modules delta 1.0.0
    sbox lock
    echo changed >>node_modules/alpha/index.js
    echo changed >>packages/a/node_modules/delta/index.js
    run sbox lock packages/a/node_modules
    assert_status 0
    assert_output_has '! delta 1.0.0'
    refute_output_has 'alpha'
    run sbox verify
    assert_status 1
    assert_output_has 'alpha/index.js'
    refute_output_has 'delta/index.js'
}

@test "a tree outside of the project, by name" {
    make_tree
    add_package "$T/outside/node_modules" shared 1.0.0
    run --separate-stderr sbox lock
    assert_status 0
    run --separate-stderr sbox lock "$T/outside/node_modules"
    assert_status 0
    echo changed >>"$T/outside/node_modules/shared/index.js"
    run sbox verify
    assert_status 1
    assert_output_has 'shared/index.js'
}

@test "inside a locked project lock needs --workspace" {
    make_tree
    add_package packages/a/node_modules delta 1.0.0
    printf '{}' >packages/a/package.json
    sbox lock
    cd packages/a
    fails_with 2 "--workspace=." lock
    assert_stderr_has "--workspace='$P'"
    run sbox lock --workspace=.
    assert_status 0
    assert_output_has 'the first lock of this project'
    run sbox lock --workspace="$P"
    assert_status 0
    assert_output_has 'nothing changed'
}

@test "names with spaces, newlines, escapes and bytes that are not UTF-8" {
    make_tree
    local dir="$HOME/pro ject:"$'\n\e[31m\xff'
    mv "$P" "$dir"
    cd "$dir"
    printf x >node_modules/$'a\nb\e[31m\xff'
    run --separate-stderr sbox lock
    assert_status 0
    rm node_modules/$'a\nb\e[31m\xff'
    run --separate-stderr sbox verify
    assert_status 1
    assert_output_has 'removed   a\nb\x1b[31m\xff'
    sbox verify --json >"$T/json" || [[ $? == 1 ]]
    jq -e --arg path "$(printf 'a\nb\e[31m\xff' | base64 -w0)" \
        --arg root "$(printf %s "$dir" | base64 -w0)" '.root_b64 == $root and
        ([.result.trees[].differences[] | select(.path_b64 == $path)] | length == 1)' "$T/json"
}

@test "I1: FIFO, socket, setuid file, a link to /dev/zero: bounded, recorded, not opened" {
    make_tree
    mkfifo node_modules/alpha/fifo
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("node_modules/alpha/sock")'
    ln -s /dev/zero node_modules/alpha/zero
    cp /bin/true node_modules/alpha/suid
    chmod 4755 node_modules/alpha/suid
    lock_and_verify
    rm node_modules/alpha/fifo
    mkdir node_modules/alpha/fifo
    chmod 755 node_modules/alpha/suid
    run sbox verify
    assert_status 1
    assert_output_has 'type      alpha/fifo'
    assert_output_has 'mode      alpha/suid'
}

# verify names it: as a difference, or as what keeps it from an answer.
sees()
{
    run sbox verify
    [[ $status -eq 1 || $status -eq 2 ]] || fail "exit status $status"
    assert_output_has "$1"
    run sbox verify --fast
    [[ $status -eq 1 || $status -eq 2 ]] || fail "exit status $status"
    assert_output_has "$1"
}

@test "I7: what cannot be read is named, and the last lock stays" {
    make_tree
    lock_and_verify
    local before
    before=$(fingerprint)
    chmod 000 node_modules/beta/index.js
    fails_with 2 'node_modules/beta/index.js' lock
    assert_stderr_has 'Permission denied'
    sees 'beta/index.js'
    chmod 644 node_modules/beta/index.js
    chmod 000 node_modules/beta/lib
    fails_with 2 'node_modules/beta/lib' lock
    sees 'beta/lib'
    chmod 755 node_modules/beta/lib
    assert_equal "$(fingerprint)" "$before"
}

@test "I9: moved, copied, a git worktree, mounted elsewhere: never locked, with the way out" {
    make_tree
    setup_git
    sbox lock
    cp -a "$P" "$HOME/copy"
    fails_with 2 'never locked' verify -C "$HOME/copy"
    assert_stderr_has 'sbox lock'
    fails_with 2 'never locked' status -C "$HOME/copy"
    git worktree add -q "$HOME/worktree"
    [[ -d $HOME/worktree/node_modules ]] || fail "git did not check the tree out"
    fails_with 2 'never locked' verify -C "$HOME/worktree"
    mkdir "$HOME/elsewhere"
    run in_namespace 'mount --bind "$1" "$2"; cd "$2"; exec "$3" verify' \
        "$P" "$HOME/elsewhere" "$SBOX"
    assert_status 2
    assert_output_has 'never locked'
    cd "$HOME"
    mv "$P" moved
    fails_with 2 'never locked' verify -C moved
    assert_stderr_has 'sbox lock'
    run sbox lock -C moved
    assert_status 0
    run sbox verify -C moved
    assert_status 0
}

@test "I10: two locks at once are serialised; a busy project is named, after a bounded wait" {
    make_tree
    in_host "$SBOX" lock
    run sbox lock
    assert_status 0
    wait_for 5 grep -q "^locked 1 tree" "$T/host.out" || fail "$(cat "$T/host.out")"
    run sbox verify
    assert_status 0
    # Somebody who does not let go: first as a run does, then as another lock.
    local lease
    lease=$(echo "$HOME/$DATA"/projects/*/lease)
    in_host flock --no-fork --shared "$lease" sleep 60
    wait_for 5 bash -c "! flock --nonblock '$lease' true"
    run sbox verify
    assert_status 0
    fails_with 2 'busy' lock
    kill "${HOST_PIDS[-1]}"
    wait_for 5 flock --nonblock "$lease" true
    in_host flock --no-fork "$lease" sleep 60
    wait_for 5 bash -c "! flock --nonblock '$lease' true"
    fails_with 2 'busy' lock
    fails_with 2 'busy' verify
}

now_us()
{
    local us=${EPOCHREALTIME/./}
    echo "$us"
}

@test "I11: kill -9 at random moments of lock: the previous lock stays, the next command works" {
    make_tree
    local i
    for i in $(seq 60); do add_package node_modules "package-$i" 1.0.0; done
    head -c 30000000 /dev/urandom >node_modules/big.bin
    local round pid code first now start span killed=0
    set_bare
    start=$(now_us)
    lock_and_verify
    span=$((($(now_us) - start) / 2))
    first=$(fingerprint)
    echo changed >>node_modules/alpha/index.js
    for round in $(seq 400); do
        "${BARE[@]}" "$SBOX" lock >/dev/null 2>&1 3>&- &
        pid=$!
        sleep "$(printf '0.%06d' $(((RANDOM * 32768 + RANDOM) % span)))"
        kill -9 "$pid" 2>/dev/null || true
        code=0
        wait "$pid" 2>/dev/null || code=$?
        if [[ $code -eq 137 ]]; then killed=$((killed + 1)); fi
        run --separate-stderr sbox verify
        now=$(sbox verify --json | jq -r .result.lock.fingerprint)
        case $status in
        1) assert_equal "$now" "$first" ;;
        0) # The lock was finished before the signal came: the next round begins from it.
            first=$now
            echo "changed $round" >>node_modules/alpha/index.js
            ;;
        *) fail "round $round: $status: $stderr" ;;
        esac
        if [[ $killed -eq 60 ]]; then break; fi
    done
    [[ $killed -ge 50 ]] || fail "only $killed of $round were killed in time"
    lock_and_verify
}

@test "I11: SIGINT leaves the previous lock" {
    make_tree
    head -c 200000000 /dev/zero >node_modules/big.bin
    sbox lock
    echo changed >>node_modules/alpha/index.js
    run bare timeout --preserve-status -s INT 0.05 "$SBOX" lock
    run sbox lock
    assert_status 0
    run sbox verify
    assert_status 0
}

@test "I11: a full disk: said, and the previous lock stays" {
    make_tree
    local i
    run in_namespace '
        mkdir -p "$HOME/.local/share"
        mount -t tmpfs -o size=1M none "$HOME/.local/share"
        "$1" lock >/dev/null
        for i in $(seq 4000); do mkdir -p node_modules/n$i; echo $RANDOM$i >node_modules/n$i/a-rather-long-name-$i.js; done
        head -c 10M /dev/zero >"$HOME/.local/share/fill" 2>/dev/null || true
        "$1" lock && exit 70
        [[ $? == 2 ]]
        "$1" verify >/dev/null && exit 71
        [[ $? == 1 ]] || exit 72
        rm -r node_modules/n*
        "$1" verify || exit 73' "$SBOX"
    assert_status 0
    assert_output_has 'the same as locked'
    assert_output_has 'no space left'
}

@test "I12: a manifest that is damaged, empty, foreign or newer: 2, and not overwritten" {
    make_tree
    sbox lock
    local db=$HOME/$DATA/manifest.db what
    cp "$db" "$T/good"
    for what in garbage empty foreign newer truncated; do
        rm -f "$db"-*
        case $what in
        garbage) head -c 8192 /dev/urandom >"$db" ;;
        empty) : >"$db" ;;
        foreign) rm "$db"; python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1]); c.execute("CREATE TABLE t (x)"); c.commit()' "$db" ;;
        newer) cp "$T/good" "$db"; python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1]); c.execute("PRAGMA user_version=9999"); c.commit()' "$db" ;;
        truncated) head -c 5000 "$T/good" >"$db" ;;
        esac
        cp "$db" "$T/before"
        run --separate-stderr sbox verify
        if [[ $status -ne 2 ]]; then fail "$what: verify: $status $output"; fi
        assert_stderr_has 'manifest'
        run --separate-stderr sbox status
        if [[ $status -ne 2 ]]; then fail "$what: status: $status $output"; fi
        run --separate-stderr sbox lock
        if [[ $status -ne 2 ]]; then fail "$what: lock: $status $output"; fi
        cmp "$db" "$T/before"
    done
    rm -f "$db"-*
    cp "$T/good" "$db"
    run sbox verify
    assert_status 0
}

@test "I12: a data directory that cannot be written, or that others can write" {
    make_tree
    sbox lock
    chmod -R a-w "$HOME/$DATA"
    run --separate-stderr sbox verify
    [[ $status -eq 0 || ($status -eq 2 && $stderr == *sbox*) ]] || fail "$status $output $stderr"
    echo changed >>node_modules/alpha/index.js
    run --separate-stderr sbox lock
    assert_status 2
    chmod -R u+w "$HOME/$DATA"
    run sbox verify
    assert_status 1
    chmod 777 "$HOME/$DATA"
    fails_with 2 'chmod' verify
    fails_with 2 'chmod' lock
}

@test "standard descriptors closed: the manifest is whole" {
    make_tree
    run bare bash -c 'exec 0<&- 1>&- 2>&-; "$1" lock' - "$SBOX"
    assert_status 0
    run sbox verify
    assert_status 0
    run bare bash -c '"$1" lock >/dev/full' - "$SBOX"
    assert_status 2
    run sbox verify
    assert_status 0
}
