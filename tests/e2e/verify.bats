#!/usr/bin/env bats
# ctest-timeout: 600
# sbox verify and status: every difference is seen, named and put to its package (integrity I2 to
# I6, I14), and nothing else is.

load ../helpers/common
load ../helpers/trees

# differs TEXT…: verify, verify --fast and status all see it; both verify forms name it.
differs()
{
    local form text
    for form in "" --fast; do
        run --separate-stderr sbox verify $form
        assert_status 1
        for text in "$@"; do assert_output_has "$text"; done
    done
    run --separate-stderr sbox status
    assert_status 1
}

same()
{
    local form
    for form in "verify" "verify --fast" "status"; do
        run --separate-stderr sbox $form
        assert_status 0
        assert_equal "$stderr" ""
    done
}

lock_here()
{
    sbox lock -q
    same
}

@test "I4: every kind of change by its own verdict, with its package" {
    make_tree
    setfattr -n user.note -v one node_modules/beta/index.js
    lock_here
    echo x >node_modules/alpha/added.js
    rm node_modules/alpha/lib/x.js
    echo 'changed' >>node_modules/alpha/index.js
    rm node_modules/beta/lib/x.js
    mkdir node_modules/beta/lib/x.js
    chmod 600 node_modules/beta/package.json
    ln -sfn ../beta/index.js node_modules/.bin/alpha
    setfattr -n user.note -v two node_modules/beta/index.js
    mkdir node_modules/@scope/gamma/empty
    differs 'added     alpha/added.js  (alpha 1.0.0)' 'removed   alpha/lib/x.js  (alpha 1.0.0)' \
        'modified  alpha/index.js  (alpha 1.0.0)' 'type      beta/lib/x.js  (beta 2.1.0)' \
        'mode      beta/package.json  (beta 2.1.0)' 'target    .bin/alpha' \
        'xattr     beta/index.js  (beta 2.1.0)' 'added     @scope/gamma/empty  (@scope/gamma 0.3.0)'
    sbox verify --json >"$T/json" || [[ $? == 1 ]]
    jq -e '[.result.trees[0].differences[] | .verdict] | sort | unique ==
        ["added", "mode", "modified", "removed", "target", "type", "xattr"]' "$T/json"
}

@test "I4: a case-only rename" {
    make_tree
    lock_here
    mv node_modules/alpha/index.js node_modules/alpha/Index.js
    differs 'added     alpha/Index.js' 'removed   alpha/index.js'
}

@test "one byte changed with the time put back" {
    make_tree
    touch -d '2020-01-02 03:04:05.123456789' node_modules/alpha/index.js
    lock_here
    printf M | dd of=node_modules/alpha/index.js bs=1 conv=notrunc status=none
    touch -d '2020-01-02 03:04:05.123456789' node_modules/alpha/index.js
    differs 'modified  alpha/index.js  (alpha 1.0.0)'
    refute_output_has beta
}

@test "I2: same size, times put back, within the tick of the lock" {
    make_tree
    local round
    for round in $(seq 30); do
        printf 'aaaa%03d' "$round" >node_modules/alpha/index.js
        touch -r node_modules/beta/index.js node_modules/alpha/index.js
        sbox lock -q
        printf 'bbbb%03d' "$round" >node_modules/alpha/index.js
        touch -r node_modules/beta/index.js node_modules/alpha/index.js
        run sbox verify --fast
        if [[ $status -ne 1 ]]; then fail "round $round: not seen: $output"; fi
    done
}

@test "I2: a file renamed over the locked one, all times equal" {
    make_tree
    printf 'aaaaaaa' >node_modules/alpha/index.js
    cp -p node_modules/alpha/index.js "$T/other"
    printf 'bbbbbbb' >"$T/other"
    touch -r node_modules/alpha/index.js "$T/other"
    lock_here
    mv "$T/other" node_modules/alpha/index.js
    differs 'modified  alpha/index.js'
}

@test "I3: written through a mapping that was dirty before the lock" {
    make_tree
    mkfifo "$T/go" "$T/done"
    in_host python3 -c '
import mmap, sys
f = open("node_modules/alpha/index.js", "r+b")
m = mmap.mmap(f.fileno(), 0)
m[0:1] = b"A"
open(sys.argv[2], "w").write("dirty\n")
open(sys.argv[1]).read()
m[0:1] = b"Z"
open(sys.argv[2], "w").write("changed\n")
import time; time.sleep(60)' "$T/go" "$T/done"
    assert_equal "$(cat "$T/done")" dirty
    sbox lock -q
    echo go >"$T/go"
    assert_equal "$(cat "$T/done")" changed
    differs 'modified  alpha/index.js'
}

@test "I5: a hard link into a store, content changed through the store's name" {
    make_tree
    mkdir "$T/outside/store"
    ln node_modules/alpha/index.js "$T/outside/store/blob"
    lock_here
    echo changed >>"$T/outside/store/blob"
    differs 'modified  alpha/index.js'
}

@test "I6: caches inside trees are no difference, but verify names those that hold files" {
    make_tree
    lock_here
    mkdir -p node_modules/.cache/babel node_modules/.vite
    echo code >node_modules/.cache/babel/x.js
    same
    assert_output_has 'node_modules/.cache'
    sbox verify --json | jq -e '.result.caches == [{"path": "node_modules/.cache"}]'
    # What only looks like one is looked at.
    mkdir node_modules/alpha/.cache
    echo code >node_modules/alpha/.cache/x.js
    differs 'added     alpha/.cache'
}

@test "trees that were never locked, and locked trees that are gone" {
    make_tree
    make_venv .venv
    lock_here
    mkdir -p src/node_modules/express
    echo evil >src/node_modules/express/index.js
    differs 'src/node_modules: never locked'
    rm -r src
    rm -r .venv
    differs '.venv: missing'
    sbox verify --json >"$T/json" || [[ $? == 1 ]]
    jq -e '[.result.trees[] | [.path, .state]] == [[".venv", "absent"], ["node_modules", "equal"]]' \
        "$T/json"
}

@test "PATHs: only those trees; one that is no tree is an error" {
    make_tree
    make_venv .venv
    lock_here
    echo changed >>node_modules/alpha/index.js
    run sbox verify .venv
    assert_status 0
    run sbox verify node_modules
    assert_status 1
    run sbox verify -C src-nowhere node_modules
    assert_status 2
    run --separate-stderr sbox verify nowhere
    assert_status 2
    assert_stderr_has nowhere
}

@test "the first 20 differences and a count; --all lists them; -q says it by the status alone" {
    make_tree
    lock_here
    local i
    for i in $(seq -w 25); do echo x >"node_modules/alpha/new-$i.js"; done
    run sbox verify
    assert_status 1
    assert_output_has 'not as locked: 1 tree of 1 tree, 25 differences'
    assert_equal "$(grep -c '^  added' <<<"$output")" 20
    assert_output_has 'and 5 more (--all lists them)'
    run sbox verify --all
    assert_equal "$(grep -c '^  added' <<<"$output")" 25
    refute_output_has more
    run sbox verify -q
    assert_status 1
    assert_equal "$output" ""
}

@test "status: root, lock, trees and whether they are clean" {
    make_tree
    run --separate-stderr sbox status
    assert_status 2
    assert_output_has "root    $P"
    assert_output_has 'lock    none'
    assert_output_has 'node_modules  never locked'
    assert_stderr_has 'never locked'
    sbox lock -q
    run --separate-stderr sbox status
    assert_status 0
    assert_output_has 'node_modules  as locked'
    assert_output_has clean
    echo changed >>node_modules/alpha/index.js
    run --separate-stderr sbox status
    assert_status 1
    assert_output_has 'node_modules  differs: 1 difference'
    refute_output_has clean
}

@test "--json of verify and status: one shape, before and after" {
    make_tree
    run --separate-stderr sbox status --json
    assert_status 2
    jq -e '.schema == "sbox.status/1" and .exit == 2 and .error.code == "ENODATA"
        and .result.lock == null and .result.trees[0].state == "unlocked"' <<<"$output"
    run --separate-stderr sbox verify --json
    assert_status 2
    jq -e '.result == null and .error.code == "ENODATA"' <<<"$output"
    local entries form
    entries=$(sbox lock --json | jq .result.entries)
    for form in "verify --json" "verify --fast --json" "status --json"; do
        sbox $form | jq -e --arg root "$P" --argjson entries "$entries" '
            .root == $root and .exit == 0 and .error == null and .result.same
            and .result.packages == 3 and (.result.lock.fingerprint | test("^[0-9a-f]{64}$"))
            and (.result.trees | length == 1)
            and (.result.trees[0] | .path == "node_modules" and .kind == "node_modules"
                 and .state == "equal" and .differences == [] and .entries == $entries)'
    done
    sbox verify --json | jq -e '.result.mode == "full" and .result.trees[0].hashed > 5'
    printf x >node_modules/alpha/evil.js
    sbox verify --json >"$T/json" || [[ $? == 1 ]]
    jq -e '.exit == 1 and (.result.same | not) and .result.trees[0].differences == [
        {"verdict": "added", "type": "file", "path": "alpha/evil.js", "package": "alpha",
         "version": "1.0.0"}]' "$T/json"
}

@test "verify writes nothing into the project and leaves the lock as it is" {
    make_tree
    sbox lock -q
    find . -printf '%p %m %s %T@ %C@\n' | sort >"$T/before"
    sbox verify --json | jq -S .result.lock >"$T/lock.before"
    sbox verify -q
    sbox verify --fast -q
    sbox status -q
    find . -printf '%p %m %s %T@ %C@\n' | sort >"$T/after"
    diff "$T/before" "$T/after"
    echo changed >>node_modules/alpha/index.js
    run sbox verify -q
    assert_status 1
    printf 'module.exports = "alpha";\n' >node_modules/alpha/index.js
    sbox verify --json | jq -S .result.lock >"$T/lock"
    diff "$T/lock.before" "$T/lock"
}

# On another file system: lock, verify, and every form sees a change with the time put back.
on_mount()
{
    in_namespace "$1"'
        cd "$2"
        mkdir -p node_modules/alpha
        echo "{\"name\":\"alpha\",\"version\":\"1.0.0\"}" >node_modules/alpha/package.json
        echo one >node_modules/alpha/index.js
        "$3" lock --workspace . >/dev/null
        "$3" verify --workspace . >/dev/null
        "$3" verify --workspace . --fast >/dev/null
        touch -r node_modules/alpha/index.js "$HOME/stamp"
        echo two >node_modules/alpha/index.js
        touch -r "$HOME/stamp" node_modules/alpha/index.js
        "$3" verify --workspace . --fast && exit 80
        [[ $? == 1 ]]' "$T" "$T/mnt" "$SBOX"
}

@test "I14: a tree on tmpfs" {
    mkdir "$T/mnt"
    run on_mount 'mount -t tmpfs none "$2"'
    assert_status 0
    assert_output_has 'modified  alpha/index.js'
}

@test "I14: a tree on overlayfs" {
    mkdir "$T/mnt" "$T/up" "$T/work" "$T/low"
    run on_mount 'mount -t overlay none -o userxattr,lowerdir="$1/low",upperdir="$1/up",workdir="$1/work" "$2"'
    assert_status 0
    assert_output_has 'modified  alpha/index.js'
}

@test "I14: read-only and noexec mounts" {
    make_tree
    run in_namespace 'mount --bind "$1" "$1"; mount -o remount,bind,ro,noexec "$1"; cd "$1"
        "$2" lock; "$2" verify; "$2" verify --fast' "$P" "$SBOX"
    assert_status 0
    assert_output_has 'the same as locked'
    same
}

@test "from a directory below the root, and with -C" {
    make_tree
    setup_git
    mkdir -p src/deep
    lock_here
    cd src/deep
    same
    cd /
    run sbox verify -C "$P/src"
    assert_status 0
}

@test "run's refusal names a package that came or went once, not each of its files" {
    mkdir -p node_modules/a/lib node_modules/b
    echo 1 >node_modules/a/lib/x
    echo 1 >node_modules/b/y
    run --separate-stderr sbox lock
    assert_status 0
    rm -r node_modules/a
    mkdir -p node_modules/c/d
    touch node_modules/c/d/e node_modules/ca
    inside true
    assert_status 120
    assert_equal "$stderr" "sbox: refused: 'node_modules' is not what was locked (7 differences)
sbox:   removed: node_modules/a
sbox:   added: node_modules/c
sbox:   added: node_modules/ca
sbox: see it: sbox diff; accept it: sbox lock; undo it: sbox restore --delete"
}
