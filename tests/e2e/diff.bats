#!/usr/bin/env bats
# sbox diff: what changed since the lock, with the text of what changed.

load ../helpers/common
load ../helpers/trees

@test "nothing changed: 0 and no word; never locked: 2" {
    make_tree
    run --separate-stderr sbox diff
    assert_status 2
    assert_stderr_has 'was never locked here'
    sbox lock
    run --separate-stderr sbox diff
    assert_status 0
    assert_equal "$output$stderr" ""
}

@test "text as a unified diff, added and removed files too, by package" {
    make_tree
    sbox lock
    printf 'exports.x = 2; // "\\n"\n' >node_modules/alpha/lib/x.js
    printf 'planted();\n' >node_modules/beta/new.js
    rm node_modules/@scope/gamma/index.js
    run --separate-stderr sbox diff
    assert_status 1
    assert_equal "$stderr" ""
    assert_output_has 'modified node_modules/alpha/lib/x.js  (alpha 1.0.0)
--- locked/node_modules/alpha/lib/x.js
+++ node_modules/alpha/lib/x.js
@@ -1 +1 @@
-exports.x = 1;
+exports.x = 2; // "\n"
'
    assert_output_has '--- /dev/null
+++ node_modules/beta/new.js
@@ -0,0 +1 @@
+planted();'
    assert_output_has '-module.exports = "@scope/gamma";'
    # what patch(1) makes of it is what was locked
    sbox diff -- node_modules/alpha | sed 1d | patch -R -s node_modules/alpha/lib/x.js
    assert_equal "$(cat node_modules/alpha/lib/x.js)" 'exports.x = 1;'
}

@test "one line for what is no text: binary, mode, link, type" {
    make_tree
    head -c 3000 /dev/urandom >node_modules/alpha/x.node
    sbox lock
    head -c 4000 /dev/urandom >node_modules/alpha/x.node
    chmod 700 node_modules/beta/index.js
    ln -sfn ../beta/index.js node_modules/.bin/alpha
    rm node_modules/@scope/gamma/index.js
    mkdir node_modules/@scope/gamma/index.js
    run sbox diff
    assert_status 1
    assert_equal "${#lines[@]}" 4
    [[ $output =~ 'modified node_modules/alpha/x.node  (alpha 1.0.0)  3.0 kB '[0-9a-f]{16}' -> 4.0 kB '[0-9a-f]{16} ]] ||
        fail "$output"
    assert_output_has 'mode node_modules/beta/index.js  (beta 2.1.0)  mode 0644 -> 0700'
    assert_output_has 'target node_modules/.bin/alpha  link to ../alpha/cli.sh -> link to ../beta/index.js'
    assert_output_has '-> directory'
}

@test "PATHs, --name-only, --stat" {
    make_tree
    sbox lock
    echo a >>node_modules/alpha/index.js
    echo b >>node_modules/beta/index.js
    run sbox diff --name-only
    assert_status 1
    assert_equal "$output" $'node_modules/alpha/index.js\nnode_modules/beta/index.js'
    run sbox diff --name-only node_modules/beta
    assert_equal "$output" node_modules/beta/index.js
    cd node_modules/alpha
    run sbox diff --name-only -- index.js ../gone
    assert_equal "$output" node_modules/alpha/index.js
    run sbox diff -- lib
    assert_status 0
    cd ../..
    run sbox diff --stat
    assert_status 1
    assert_equal "${lines[2]}" '2 differences'
    refute_output_has '@@'
}

@test "--json: both sides and the text" {
    make_tree
    sbox lock
    echo a >>node_modules/alpha/index.js
    run --separate-stderr sbox diff --json
    assert_status 1
    assert_equal "$(jq -r .schema <<<"$output")" sbox.diff/1
    assert_equal "$(jq -r '.result.differences[0] | .verdict, .path, .was.sha256, (.diff | split("\n") | .[-2])' <<<"$output")" \
        "modified
alpha/index.js
$(printf 'module.exports = "alpha";\n' | sha256sum | cut -d ' ' -f 1)
+a"
}

@test "what a terminal would obey is escaped, in names and in text" {
    make_tree
    sbox lock
    printf 'evil \033[2J\r\n' >node_modules/alpha/$'a\033[31m.js'
    run sbox diff
    assert_status 1
    assert_output_has 'added node_modules/alpha/a\x1b[31m.js'
    assert_output_has '+evil \x1b[2J\r'
    [[ $output != *$'\033'* ]]
}

@test "without a copy: sizes and digests, and why" {
    make_tree
    sbox lock --no-snapshot
    echo a >>node_modules/alpha/index.js
    run sbox diff
    assert_status 1
    assert_output_has "there is no copy of 'alpha' (it was locked without)"
    assert_output_has ' -> '
    refute_output_has '@@'
}

@test "I13: a copy that is truncated, altered or exchanged is refused; verify still works" {
    make_tree
    sbox lock
    cp -a "$HOME/$DATA/snapshots" "$T/good"
    local way file
    for way in truncate alter exchange; do
        rm -r "$HOME/$DATA/snapshots"
        cp -a "$T/good" "$HOME/$DATA/snapshots"
        echo changed >node_modules/alpha/index.js
        for file in "$HOME/$DATA"/snapshots/*/*; do
            case $way in
            truncate) truncate -s 40 "$file" ;;
            alter) printf '%060d' 0 | dd of="$file" bs=1 seek=20 conv=notrunc status=none ;;
            exchange)
                mkdir "$T/forged"
                printf 'evil\n' >"$T/forged/index.js"
                tar --zstd -cf "$file" -C "$T/forged" .
                rm -r "$T/forged"
                ;;
            esac
        done
        run --separate-stderr sbox diff
        assert_status 1
        assert_output_has 'no text: '
        assert_output_has 'the snapshot is damaged or was altered'
        refute_output_has evil
        run sbox verify
        assert_status 1
        echo 'module.exports = "alpha";' >node_modules/alpha/index.js
        run sbox verify
        assert_status 0
    done
}

@test "a long difference is cut, one that is longer still is one line" {
    make_tree
    yes aaaaaa | head -c 1000000 >node_modules/alpha/long.txt
    yes aaaaaa | head -c 2000000 >node_modules/beta/longer.txt
    sbox lock
    yes bbbbbb | head -c 1000000 >node_modules/alpha/long.txt
    yes bbbbbb | head -c 2000000 >node_modules/beta/longer.txt
    sbox diff >"$T/out" || [[ $? == 1 ]]
    grep -q '^@@' "$T/out"
    grep -q 'the rest of this difference is not shown' "$T/out"
    assert_equal "$(tail -n 1 "$T/out" | cut -d ' ' -f 2)" node_modules/beta/longer.txt
}
