# What a command leaves behind must not run when the user asks git for the state of things: case C28.
load ../helpers/common
load ../helpers/attack

# A repository that runs a program of its own when git looks at it, and that the outer one knows as
# a submodule. In the sandbox.
make_trap='d=$1; mkdir -p "$d"; git init -q "$d"; cd "$d"; : >f; git add f
    git -c user.name=x -c user.email=x@example.test commit -qm x
    printf "#!/bin/sh\ntouch \"%s\"\n" "$2" >fire; chmod +x fire
    git config core.fsmonitor "$PWD/fire"; cd "$3"; git add -f "$d" 2>/dev/null'

trap_at()
{
    inside sh -c "$make_trap${2:+; $2}" sh "$1" "$P/sprung" "$P"
    rm -f sprung # git add inside may have sprung it there
}

assert_not_sprung()
{
    git status >/dev/null 2>&1 || true
    git diff >/dev/null 2>&1 || true
    if [[ -e sprung ]]; then fail "git ran it"; fi
}

@test "C28: a nested repository with a trap leaves the workspace" {
    setup_git
    trap_at sub
    assert_not_sprung
    [[ ! -e sub/.git ]]
    [[ $stderr == *sub/.git* ]]
}

@test "C28: the trap itself works" {
    setup_git
    bash -c "$make_trap" sh sub "$P/sprung" "$P"
    rm -f sprung
    git status >/dev/null 2>&1
    [[ -e sprung ]]
}

@test "C28: a nested repository in a new dependency tree" {
    setup_git
    trap_at node_modules/x
    assert_not_sprung
}

@test "C28: a nested repository in a directory that cannot be listed" {
    setup_git
    trap_at a/sub 'chmod 0311 a'
    assert_not_sprung
}

@test "C28: a nested repository that cannot be listed" {
    setup_git
    trap_at sub 'chmod 0311 sub sub/.git'
    assert_not_sprung
}

@test "C28: submodules that cannot be listed do not hide a trap elsewhere" {
    setup_git
    trap_at sub 'mkdir .git/modules; chmod 0 .git/modules'
    assert_status 125
    chmod 755 .git/modules
    assert_not_sprung
}

@test "C28: a .git that is a link" {
    setup_git
    trap_at sub 'mv sub/.git sub/kept; ln -s kept sub/.git'
    assert_not_sprung
}

@test "C28: a project without git gets a repository with a trap" {
    mkdir own
    touch package.json
    inside sh -c "$make_trap" sh "$P" "$P/sprung" "$P"
    rm -f sprung
    assert_not_sprung
}

@test "C28: a nested repository in a tree in a new tree" {
    setup_git
    trap_at node_modules/x/node_modules/y
    assert_not_sprung
}

@test "C28: a nested repository in a directory named as if it held secrets" {
    setup_git
    trap_at .env.d/sub
    assert_not_sprung
}

@test "C28: what a command made unlistable can be listed afterwards, and the next run starts" {
    mkdir api
    echo KEY=sbox-test-canary >api/.env
    inside chmod 0 api
    assert_status 0
    inside sh -c 'chmod 755 api; cat api/.env'
    assert_status 0
    [[ $output != *canary* ]]
}

@test "S1: a directory that its mode closes is no way to what is in it" {
    mkdir api
    echo KEY=sbox-test-canary >api/.env
    local mode
    for mode in 0 0311 0600; do
        chmod "$mode" api
        inside sh -c 'chmod 755 api; cat api/.env'
        assert_status 125
        assert_stderr_has "'api'"
        assert_stderr_has 'chmod u+rx'
        [[ $output != *canary* ]]
    done
}
