# What the guard holds when the one inside is quick, patient or noisy: cases C3, C27 and C28.
load ../helpers/common
load ../helpers/attack

secret()
{
    plant_file "$1" "API_KEY=$CANARY"
}

# None of the names that git obeys, whatever was tried.
assert_git_clean()
{
    local name
    for name in commondir config.worktree hooks; do
        if [[ -e .git/$name || -L .git/$name ]]; then fail ".git/$name is there"; fi
    done
    git status --porcelain >/dev/null
}

# A repository without hooks, so that they are missed.
setup_bare_git()
{
    setup_git
    rm -rf .git/hooks
}

@test "C28: a name planted in the last moment is removed before sbox returns" {
    setup_bare_git
    local n
    for n in 1 2 3 4 5 6 7 8 9 10; do
        inside sh -c 'echo ../planted >.git/commondir'
        assert_git_clean
        [[ $status -ne 0 ]]
        [[ $stderr == *commondir* ]]
    done
}

# The guard is held still, so that it cannot have seen the name when the command ends.
@test "C28: a name that the guard had no time to see is removed before sbox returns" {
    setup_bare_git
    in_host "$SBOX" run sh -c 'touch up; while [ ! -e go ]; do sleep 0.02; done
        mkdir .git/hooks; echo x >.git/hooks/pre-commit; echo ../planted >.git/commondir'
    wait_for 10 test -e up
    local guard
    guard=$(pgrep -P "${HOST_PIDS[-1]}" -x sbox-guard)
    kill -STOP "$guard"
    touch go
    wait_for 10 test -e .git/commondir
    sleep 0.5 # the command ends
    kill -CONT "$guard"
    finish 10
    [[ $status -ne 0 ]]
    grep -q '\.git/' "$T/host.err"
    assert_git_clean
}

@test "C28: a name planted by many processes again and again is gone at the end" {
    setup_bare_git
    inside sh -c 'for n in 1 2 3 4; do
        (while :; do echo x >.git/commondir; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit; done) &
    done 2>/dev/null; sleep 20'
    [[ $status -ne 0 ]]
    assert_git_clean
}

@test "C28: a repository without a HEAD is watched, too" {
    setup_bare_git
    inside mv .git/HEAD .git/kept
    inside sh -c 'mkdir .git/hooks; echo x >.git/hooks/pre-commit; echo ../planted >.git/commondir
        mv .git/kept .git/HEAD; sleep 2'
    [[ -e .git/HEAD ]] || mv .git/kept .git/HEAD
    assert_git_clean
}

@test "C28: hooks with so many files that removing them takes long" {
    setup_bare_git
    inside sh -c 'mkdir .git/many; cd .git/many; touch pre-commit; seq 200000 | xargs touch
        cd ..; mv many hooks; sleep 5'
    [[ $status -ne 0 ]]
    assert_git_clean
}

@test "C28: hooks too deep to be removed" {
    setup_bare_git
    inside sh -c 'mkdir .git/deep; cd .git/deep; touch pre-commit
        for n in $(seq 100); do mkdir d; cd d; done; cd "$0/.git"; mv deep hooks; sleep 5' "$P"
    [[ $status -ne 0 ]]
    assert_git_clean
}

@test "C3: a hidden link that the host replaces by a file is hidden again" {
    secret "$P/.env.real"
    ln -s .env.real .env
    in_host "$SBOX" run sh -c 'touch up; while [ ! -e go ]; do sleep 0.02; done; cat .env >seen 2>&1; :'
    wait_for 10 test -e up
    printf 'API_KEY=%s\n' "$CANARY" >new-save
    mv new-save .env
    sleep 0.2
    touch go
    finish 10
    assert_equal "$status" 0
    if grep -q "$CANARY" seen; then fail "readable"; fi
}

@test "C3: a hidden file whose directory the host makes anew is hidden again" {
    mkdir api
    secret "$P/api/.env"
    in_host "$SBOX" run sh -c 'touch up; while [ ! -e go ]; do sleep 0.02; done; cat api/.env >seen 2>&1; :'
    wait_for 10 test -e up
    rm -rf api
    mkdir api
    printf 'API_KEY=%s\n' "$CANARY" >api/.env
    sleep 0.3
    touch go
    finish 10
    assert_equal "$status" 0
    if grep -q "$CANARY" seen; then fail "readable"; fi
}

@test "C3: a hidden file saved into a directory that the command put in place of the old is hidden" {
    mkdir api
    secret "$P/api/.env"
    in_host "$SBOX" run sh -c 'mv api old; mkdir api; touch up; while [ ! -e go ]; do sleep 0.02; done
        cat api/.env old/.env >seen 2>&1; :'
    wait_for 10 test -e up
    sleep 0.2
    secret "$P/api/.env"
    sleep 0.2
    touch go
    finish 10
    assert_equal "$status" 0
    if grep -q "$CANARY" seen; then fail "readable"; fi
}

# The window is the guard's latency: one who reads all the time may see a save before the guard does
# (a stated limit), but never for good: each save is hidden again, and the last state is.
@test "C3: twenty saves under a command that reads all the time" {
    secret "$P/.env"
    in_host "$SBOX" run sh -c 'touch up; while [ ! -e go ]; do cat .env; done >>reads 2>/dev/null; cat .env >last 2>&1; :'
    wait_for 10 test -e up
    local n
    for ((n = 0; n < 20; n++)); do
        printf 'API_KEY=%s-%s\n' "$CANARY" "$n" >new-save
        mv new-save .env
        sleep 0.1
    done
    touch go
    finish 20
    assert_equal "$status" 0
    if grep -q "$CANARY" last; then fail "readable"; fi
    grep -q 'was replaced while the command ran' "$T/host.err"
}

@test "C27: a linked part of git replaced by the host ends the run" {
    setup_git
    mv .git/hooks hooks-kept
    ln -s ../hooks-kept .git/hooks
    in_host "$SBOX" run sh -c 'touch up; sleep 20'
    wait_for 10 test -e up
    ln -s ../elsewhere new-link
    mv -T new-link .git/hooks
    finish 10
    [[ $status -ne 0 ]]
    grep -q 'hooks' "$T/host.err"
}
