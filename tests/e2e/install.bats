# Install runs: which commands they are, over which trees they start, what they keep and what they
# say. Packages come from archives made on the spot: no network, no registry.
load ../helpers/common
load ../helpers/install
load ../helpers/trees

setup()
{
    setup_install
}

teardown()
{
    clean_project
}

@test "an empty project: install, refused until it is locked, then it runs" {
    pack dep 1.0.0
    run --separate-stderr sbox npm install ./dep-1.0.0.tgz
    assert_status 0
    assert_stderr_has $'sbox: 1 package in trees that were never locked:\nsbox:   + dep 1.0.0\nsbox: accept: sbox lock'
    installed dep 1.0.0
    inside node node_modules/dep/cli.js
    assert_status 120
    assert_stderr_has "refused: 'node_modules' was never locked"
    sbox lock
    inside node node_modules/dep/cli.js
    assert_status 0
    assert_equal "$output" "dep 1.0.0"
    assert_equal "$stderr" ""
    [[ ! -e $HOME/.npm ]] # npm's cache is not the host's
}

@test "an install that fails without network says so; one that succeeds, or has some, does not" {
    run --separate-stderr sbox --install sh -c 'exit 3'
    assert_status 3
    assert_stderr_has 'sbox: this install had no network; if it needs some: -o @npm, '
    run --separate-stderr sbox --install -o registry.example sh -c 'exit 3'
    assert_equal "$stderr" ''
    run --separate-stderr sbox --install true
    assert_equal "$stderr" ''
    run --separate-stderr sbox sh -c 'exit 3'
    assert_equal "$stderr" ''
}

@test "an install over a locked tree says what changed, package by package" {
    locked_project
    pack dep 1.1.0
    pack extra 2.0.0
    run --separate-stderr sbox npm install ./dep-1.1.0.tgz ./extra-2.0.0.tgz
    assert_status 0
    assert_equal "$stderr" "sbox: 2 packages changed since the last lock:
sbox:   ~ dep 1.0.0 -> 1.1.0
sbox:   + extra 2.0.0
sbox: review: sbox diff; accept: sbox lock"
    refused
    sbox lock
    boots
    run --separate-stderr sbox npm uninstall extra
    assert_status 0
    assert_stderr_has '- extra 2.0.0'
    refute_stderr_has 'dep'
}

@test "more than twenty changes are counted" {
    locked_project
    inside --install sh -c 'for i in $(seq 25); do
        mkdir node_modules/n$i; echo "{\"name\":\"n$i\",\"version\":\"1\"}" >node_modules/n$i/package.json; done'
    assert_status 0
    assert_stderr_has '25 packages changed since the last lock:'
    assert_equal "$(grep -c '  + n' <<<"$stderr")" 20
    assert_stderr_has 'and 5 more'
}

@test "the command's exit status is the install run's; -q leaves only that" {
    locked_project
    inside --install sh -c 'rm -r node_modules/dep; exit 7'
    assert_status 7
    assert_stderr_has '- dep 1.0.0'
    run --separate-stderr sbox -q npm ci --offline
    assert_status 0
    assert_equal "$stderr" ""
}

@test "matrix: no tree, equal trees" {
    inside --install sh -c 'echo made >file'
    assert_status 0
    assert_equal "$stderr" ""
    locked_project
    run --separate-stderr sbox npm ci --offline
    assert_status 0
    assert_equal "$stderr" "sbox: the trees are what was locked"
    boots
}

@test "matrix: a tree that was never locked" {
    locked_project
    add_package sub/node_modules planted 1.0.0
    refused
    run --separate-stderr sbox npm ci --offline
    assert_status 0
    assert_stderr_has "sbox: 'sub/node_modules' was never locked"
    assert_stderr_has '+ planted 1.0.0  (sub/node_modules/planted)'
    refused
}

@test "matrix: a locked tree that is absent" {
    locked_project
    rm -rf node_modules
    refused
    run --separate-stderr sbox npm install
    assert_status 0
    assert_stderr_has "sbox: 'node_modules' is locked but not there"
    assert_stderr_has 'the trees are what was locked'
    boots
}

@test "matrix: a locked tree that differs" {
    locked_project
    echo evil >>node_modules/dep/cli.js
    run --separate-stderr sbox npm install
    assert_status 120
    assert_stderr_has "refused: 'node_modules' is not what was locked (1 difference)"
    assert_stderr_has 'modified: node_modules/dep/cli.js'
    assert_stderr_has 'npm ci'
    grep -q evil node_modules/dep/cli.js
    inside --install true
    assert_status 0
    assert_stderr_has "sbox: 'node_modules' is not what was locked (1 difference)"
    assert_stderr_has '! dep 1.0.0 content changed'
    run --separate-stderr sbox npm ci --offline
    assert_status 0
    assert_stderr_has 'the trees are what was locked'
    boots
}

@test "matrix: an install that broke off is repaired by npm ci" {
    locked_project
    inside --install sh -c 'rm -rf node_modules/dep; mkdir node_modules/big; kill -9 $$'
    assert_status 137
    refused
    run --separate-stderr sbox npm ci --offline
    assert_status 0
    boots
}

@test "an ordinary run instead: --no-install, and verbs inside scripts" {
    locked_project
    inside --no-install npm uninstall dep
    installed dep 1.0.0
    inside sh -c 'npm uninstall dep'
    installed dep 1.0.0
    assert_stderr_has 'written into locked trees'
    assert_stderr_has '--install keeps them'
    boots
}

@test "C36: a tree is removed, renamed and made anew: no EBUSY" {
    locked_project
    printf 'API_KEY=x\n' >.env
    echo node_modules >.gitignore # a tree that git tracks is real in every run
    setup_git
    inside --install sh -c 'rm -rf node_modules && npm ci --offline && mv node_modules away &&
        mv away node_modules && cat .env'
    assert_status 0
    refute_output_has API_KEY
    installed dep 1.0.0
    run --separate-stderr sbox npm ci --offline
    assert_status 0
    run --separate-stderr sbox npm install
    assert_status 0
    run --separate-stderr sbox npm uninstall dep
    assert_status 0
    [[ ! -e node_modules/dep ]]
}

@test "C36: a tree that the host replaces meanwhile does not end an install run; its masks are put back" {
    locked_project
    printf 'API_KEY=x\n' >.env
    echo node_modules >.gitignore
    setup_git
    in_host "$SBOX" run --install sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done; cat .env'
    wait_for 10 test -e up
    mv node_modules elsewhere
    printf 'API_KEY=y\n' >.env.new
    mv .env.new .env
    sleep 0.1
    touch go
    finish 20
    assert_equal "$status" 0
    if grep -q API_KEY "$T/host.out"; then fail ".env was readable"; fi
    grep -q "'.env' was replaced" "$T/host.err"
    grep -q -- '- dep 1.0.0' "$T/host.err"
}

@test "git's internals and masks hold in an install run" {
    locked_project
    printf 'API_KEY=x\n' >.env
    setup_git
    inside --install sh -c 'echo x >>.git/config; echo x >.git/hooks/pre-commit; cat .env; rm -f .env'
    refute_output_has API_KEY
    grep -q API_KEY .env
    [[ ! -e .git/hooks/pre-commit ]]
    if grep -q '^x' .git/config; then fail "config was changed"; fi
}

@test "I10: an install run has the project to itself" {
    locked_project
    in_host "$SBOX" run --install sh -c 'touch up; sleep 60'
    wait_for 10 test -e up
    run --separate-stderr sbox verify
    assert_status 2
    assert_stderr_has 'the project is busy: sbox install (pid '
    inside true
    assert_status 125
    assert_stderr_has 'the project is busy: sbox install (pid '
    run --separate-stderr sbox npm ci --offline
    assert_status 125
    kill "${HOST_PIDS[-1]}"
    finish 10
    boots
}

@test "an install run waits for ordinary runs, and they for each other not at all" {
    locked_project
    in_host "$SBOX" run sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done'
    wait_for 10 test -e up
    boots
    in_host "$SBOX" run --install sh -c '[ -e go ] && touch late'
    sleep 0.5
    [[ ! -e late ]]
    touch go
    finish 20
    assert_equal "$status" 0
    [[ -e late ]]
}

@test "--dry-run of an install run shows real trees and waits for nobody" {
    locked_project
    in_host "$SBOX" run sh -c 'touch up; sleep 60'
    wait_for 10 test -e up
    run --separate-stderr sbox --dry-run npm ci
    assert_status 0
    assert_output_has 'install run'
    refute_output_has 'throw-away   node_modules'
    assert_output_has "read-only    $HOME  (home, nearly empty)"
    run --separate-stderr sbox --dry-run npm test
    assert_output_has 'throw-away   node_modules'
}

@test "D9: a virtual environment is made, locked, and changed by pip" {
    local wheel
    wheel=$(/usr/bin/python3 "$FIXTURES/pyapp/make-wheel" "$P")
    wheel=$P/$(basename "$wheel")
    ENV=(PIP_DISABLE_PIP_VERSION_CHECK=1)
    run --separate-stderr sbox /usr/bin/python3 -m venv .venv
    assert_status 0
    assert_stderr_has '+ pip '
    run --separate-stderr sbox .venv/bin/pip install -q --no-index "$wheel"
    assert_status 0
    assert_stderr_has "'.venv' was never locked"
    assert_stderr_has '+ greeter 1.0'
    inside .venv/bin/greet you
    assert_status 120
    sbox lock
    inside .venv/bin/greet you
    assert_status 0
    assert_equal "$stderr" ""
    inside --install true # the environment's links to the system's python are no news
    assert_equal "$stderr" "sbox: the trees are what was locked"
    run --separate-stderr sbox .venv/bin/python -m pip uninstall -qy greeter
    assert_status 0
    assert_stderr_has '- greeter 1.0'
}
