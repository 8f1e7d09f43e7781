# C30: what a malicious install script leaves behind shows nothing more to the next run, and sbox
# itself reads nothing outside because of it.
load ../helpers/common
load ../helpers/install

CANARY=sbox-test-canary

setup()
{
    setup_install
    mkdir -p "$HOME/.ssh" "$T/outside/lib"
    echo "$CANARY" | tee "$HOME/.ssh/id_ed25519" "$T/outside/tool" >"$T/outside/lib/x.py"
    chmod 755 "$T/outside/tool"
    locked_project
}

teardown()
{
    clean_project
}

# attack SCRIPT: by the install script of a package, in a recognised install run.
attack()
{
    printf 'require("child_process").execFileSync("sh", ["-c", %s], {cwd: process.env.INIT_CWD});\n' \
        "$(jq -Rs . <<<"$1")" >"$T/install.js"
    pack bad 6.6.6 "$T/install.js"
    ENV+=(OUTSIDE="$T/outside")
    run --separate-stderr sbox npm install --foreground-scripts ./bad-6.6.6.tgz
}

# Every kind of run sees no more of the outside than before.
nothing_is_shown()
{
    local how
    for how in --no-install --install; do
        inside "$how" sh -c 'cat node_modules/* node_modules/.??* .git/* .venv/bin/python ~/.ssh/*; ls ~/.ssh; .venv/bin/python -c 1; true' </dev/null
        refute_output_has "$CANARY"
        refute_output_has id_ed25519
    done
    inside ls "$T/outside"
    [[ $status -ne 0 ]]
}

# lock_reads_nothing_of PATH
lock_reads_nothing_of()
{
    run strace -f -qq -e trace=open,openat,openat2 -e signal=none -o "$T/trace" "${BARE[@]}" "$SBOX" lock
    if grep -F "$1" "$T/trace" | grep -v O_PATH; then fail "sbox opened $1"; fi
}

@test "C30: node_modules becomes a link to ~/.ssh" {
    inside --install sh -c 'mv node_modules x && ln -s ~/.ssh node_modules'
    assert_status 0
    assert_stderr_has "leaves the project: node_modules -> $HOME/.ssh"
    refused
    nothing_is_shown
    set_bare
    lock_reads_nothing_of "$HOME/.ssh"
    assert_equal "$status" 2
    [[ $output == *"node_modules"* ]]
    run --separate-stderr sbox lock node_modules
    assert_status 2
    assert_stderr_has 'private directory'
    run --separate-stderr sbox npm ci --offline
    assert_status 0
    boots
    assert_equal "$(cat "$HOME/.ssh/id_ed25519")" "$CANARY"
}

@test "C30: a tree appears that is a link to ~/.ssh" {
    inside --install sh -c 'mkdir src && ln -s ~/.ssh src/node_modules'
    assert_stderr_has "leaves the project: src/node_modules -> $HOME/.ssh"
    assert_stderr_has 'accept: sbox lock'
    refused
    nothing_is_shown
}

@test "C30: a package of the tree becomes a link to ~/.ssh" {
    # shellcheck disable=SC2016
    attack 'ln -s "$HOME/.ssh" node_modules/keys'
    assert_status 0
    assert_stderr_has "leaves the project: node_modules/keys -> $HOME/.ssh"
    refused
    nothing_is_shown
    set_bare
    lock_reads_nothing_of "$HOME/.ssh"
    assert_equal "$status" 2
    [[ $output == *"node_modules/keys"*"private directory"* ]]
}

@test "C30: .venv/bin/python leads to a file of another project" {
    /usr/bin/python3 -m venv --without-pip .venv
    sbox lock
    # shellcheck disable=SC2016
    attack 'ln -sf "$OUTSIDE/tool" .venv/bin/python'
    assert_status 0
    assert_stderr_has "leaves the project: .venv/bin/python -> $T/outside/tool"
    refused
    nothing_is_shown
    # a person who locks it all the same is told, and it is shown no more than before
    run --separate-stderr sbox lock
    assert_output_has "leaves the project: .venv/bin/python -> $T/outside/tool"
    nothing_is_shown
}

@test "C30: pyvenv.cfg names another home" {
    /usr/bin/python3 -m venv --without-pip .venv
    sbox lock
    # shellcheck disable=SC2016
    attack 'echo "home = $OUTSIDE" >.venv/pyvenv.cfg'
    assert_status 0
    refused
    nothing_is_shown
    set_bare
    lock_reads_nothing_of "$T/outside"
    assert_equal "$status" 0
    nothing_is_shown
}

@test "C30: a .git file points at ~/.ssh" {
    # shellcheck disable=SC2016
    attack 'echo "gitdir: $HOME/.ssh" >.git; mkdir sub; echo "gitdir: $HOME/.ssh" >sub/.git'
    nothing_is_shown
    set_bare
    lock_reads_nothing_of "$HOME/.ssh"
    nothing_is_shown
    [[ ! -e .git && ! -e sub/.git ]] # in quarantine
}

@test "C30: what an install script writes into git and .env" {
    printf 'API_KEY=%s\n' "$CANARY" >.env
    setup_git
    attack 'cat .env; echo "[core]
fsmonitor = touch owned" >>.git/config; mkdir -p .git/hooks; echo x >.git/hooks/post-checkout; true'
    refute_output_has "$CANARY"
    git status >/dev/null
    [[ ! -e owned && ! -e .git/hooks/post-checkout ]]
}

@test "C30: caches that a script poisoned stay this project's" {
    # shellcheck disable=SC2016
    attack 'ln -s "$OUTSIDE" ~/.npm/out; ln -s "$HOME/.ssh" ~/.cache/pip/keys; rm -rf ~/.npm/_cacache; ln -s / ~/.npm/_cacache'
    nothing_is_shown
    inside sh -c 'ls ~/.npm/out/ ~/.cache/pip/keys/ ~/.npm/_cacache/home; cat ~/.npm/out/*'
    refute_output_has "$CANARY"
    refute_output_has id_ed25519
    mkdir "$HOME/other"
    cd "$HOME/other"
    inside sh -c 'ls -A ~/.npm ~/.cache'
    refute_output_has out
    refute_output_has pip
}
