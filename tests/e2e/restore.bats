#!/usr/bin/env bats
# ctest-timeout: 600
# sbox restore: locked content put back, nothing written through a name.

load ../helpers/common
load ../helpers/trees

assert_clean()
{
    run --separate-stderr sbox verify
    assert_status 0
}

damage()
{
    echo evil >>node_modules/alpha/index.js
    rm -r node_modules/beta
    chmod 600 node_modules/alpha/cli.sh
    ln -sfn ../../../etc/passwd node_modules/.bin/alpha
    rm -r node_modules/@scope/gamma/lib
    echo file >node_modules/@scope/gamma/lib
}

@test "everything that differs is put back: content, modes, links, directories, packages" {
    make_tree
    chmod 750 node_modules/beta/lib
    printf weird >node_modules/beta/$'we\xffird\nname'
    sbox lock
    damage
    run --separate-stderr sbox restore
    assert_status 0
    assert_output_has 'restored node_modules/alpha/index.js'
    assert_output_has ' restored'
    assert_clean
    assert_equal "$(stat -c %a node_modules/beta/lib)" 750
    assert_equal "$(readlink node_modules/.bin/alpha)" ../alpha/cli.sh
    run sbox restore
    assert_status 0
    assert_equal "$output" '0 entries restored'
}

@test "-n changes nothing and names what it would do" {
    make_tree
    sbox lock
    damage
    local before
    before=$(find node_modules -printf '%p %m %s %l\n' | sort)
    run --separate-stderr sbox restore -n
    assert_status 0
    assert_output_has 'would be restored node_modules/alpha/index.js'
    assert_output_has 'entries would be restored'
    assert_equal "$(find node_modules -printf '%p %m %s %l\n' | sort)" "$before"
    run --separate-stderr sbox restore --dry-run --json
    assert_status 0
    assert_equal "$(jq -r '.schema, .result.preview' <<<"$output")" $'sbox.restore/1\ntrue'
}

@test "PATHs: only those" {
    make_tree
    sbox lock
    echo evil >>node_modules/alpha/index.js
    echo evil >>node_modules/beta/index.js
    sbox restore node_modules/beta
    run sbox diff --name-only
    assert_equal "$output" node_modules/alpha/index.js
    cd node_modules/alpha
    sbox restore -- index.js
    cd ../..
    assert_clean
}

@test "what was added stays, and goes with --delete" {
    make_tree
    sbox lock
    mkdir -p node_modules/new/deep
    echo x >node_modules/new/deep/file
    ln -s /etc node_modules/new/etc
    rm node_modules/alpha/index.js
    mkdir node_modules/alpha/index.js
    echo keep >node_modules/alpha/index.js/file
    run --separate-stderr sbox restore
    assert_status 2
    assert_stderr_has 'is a directory now: --delete removes it'
    assert_output_has "added and left there ('--delete' removes them)"
    [[ -e node_modules/new/deep/file && -e node_modules/alpha/index.js/file ]]
    run --separate-stderr sbox restore --delete
    assert_status 0
    [[ ! -e node_modules/new && -d /etc ]]
    assert_clean
}

@test "a tree that is gone comes back whole" {
    make_tree
    mkfifo node_modules/alpha/fifo
    chmod 555 node_modules/alpha/lib
    sbox lock
    chmod 755 node_modules/alpha/lib
    rm -r node_modules
    run --separate-stderr sbox restore
    assert_status 0
    assert_clean
    assert_equal "$(stat -c %a node_modules/alpha/lib)" 555
}

@test "a hard link is broken, not written through; a store keeps what it holds" {
    make_tree
    sbox lock
    mkdir ../store
    echo evil >../store/file
    ln -f ../store/file node_modules/alpha/index.js
    chmod 600 node_modules/beta/index.js
    ln node_modules/beta/index.js ../store/mode
    run sbox restore
    assert_status 0
    assert_clean
    assert_equal "$(cat ../store/file)" evil
    assert_equal "$(stat -c '%a %h' ../store/mode)" '600 1'
}

@test "a link in place of a directory is never followed out of the tree" {
    make_tree
    sbox lock
    mkdir "$T/outside/victim"
    echo mine >"$T/outside/victim/index.js"
    rm -r node_modules/alpha
    ln -s "$T/outside/victim" node_modules/alpha
    run --separate-stderr sbox restore
    assert_status 0
    assert_clean
    assert_equal "$(cat "$T/outside/victim/index.js")" mine
    assert_equal "$(ls "$T/outside/victim")" index.js
    # and with a link above only part of what is restored
    rm -r node_modules/alpha/lib
    ln -s "$T/outside/victim" node_modules/alpha/lib
    run --separate-stderr sbox restore node_modules/alpha/lib/x.js
    assert_status 2
    assert_equal "$(ls "$T/outside/victim")" index.js
}

@test "I13: a copy that was altered is refused, the rest is restored, 2" {
    make_tree
    sbox lock
    local file
    for file in "$HOME/$DATA"/snapshots/*/*; do
        if tar --zstd -tf "$file" 2>/dev/null | grep -q cli.sh; then break; fi
    done
    mkdir "$T/forged"
    printf 'evil\n' >"$T/forged/index.js"
    tar --zstd -cf "$file" -C "$T/forged" .
    rm node_modules/alpha/index.js node_modules/beta/index.js
    run --separate-stderr sbox restore
    assert_status 2
    assert_stderr_has "1 not put back, the first: 'alpha/index.js': "
    assert_stderr_has 'the snapshot is damaged or was altered'
    [[ ! -e node_modules/alpha/index.js && -e node_modules/beta/index.js ]]
    assert_equal "$(find node_modules -name '.sbox*')" ""
}

@test "without a copy, never locked: 2 and why" {
    make_tree
    run --separate-stderr sbox restore
    assert_status 2
    assert_stderr_has 'was never locked here'
    sbox lock --no-snapshot
    rm node_modules/alpha/index.js
    run --separate-stderr sbox restore
    assert_status 2
    assert_stderr_has "there is no copy of 'alpha'"
}

@test "I11: kill -9 at random moments: each file is what it was or what was locked" {
    make_tree
    local i
    for i in $(seq 60); do
        add_package node_modules "package-$i" 1.0.0
        printf "good $i\n" >"node_modules/package-$i/content"
    done
    sbox lock
    local round pid
    set_bare
    for round in $(seq 25); do
        for i in $(seq 60); do echo bad >"node_modules/package-$i/content"; done
        "${BARE[@]}" "$SBOX" restore >/dev/null 2>&1 3>&- &
        pid=$!
        sleep "0.0$((RANDOM % 80 + 10))"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        for i in $(seq 60); do
            [[ $(cat "node_modules/package-$i/content") == @(bad|"good $i") ]] || fail "round $round: package-$i"
        done
    done
    run sbox restore --delete
    assert_status 0
    assert_clean
}
