# C9: kill -9 of sbox at a random moment of its start or its run, 100 times. Nothing may be left:
# no process, no mount, no file in the workspace.
# ctest-timeout: 600
load ../helpers/common
load ../helpers/attack

MARK=86420.$BATS_TEST_NUMBER
family=()

scene()
{
    plant_file .env "K=$CANARY"
    plant_file packages/a/.env.local "K=$CANARY"
    printf 'probe\n' >.gitignore
    setup_git
    before=$(find . -path ./.git/objects -prune -o -print | LC_ALL=C sort | xargs -d '\n' stat -c '%n %F %s')
}

# Of this test's own: the command by its odd number, sbox's processes by the pids seen before.
survivors()
{
    local found pid
    found=$(pgrep -u "$(id -u)" -x -f -- "sleep $MARK" || true)
    for pid in "${family[@]}"; do
        if ! has_ended "$pid"; then found+=" $pid"; fi
    done
    echo $found
}

no_survivors()
{
    [[ -z $(survivors) ]]
}

check_nothing_left()
{
    if ! wait_for 10 no_survivors; then 
        fail "left after kill $1:" "$(ps -o pid,ppid,stat,args -p "$(survivors | tr ' ' ,)")"
    fi
    if grep -F " $T" /proc/self/mountinfo; then fail "a mount is left after kill $1"; fi
    local after
    after=$(find . -path ./.git/objects -prune -o -print | LC_ALL=C sort | xargs -d '\n' stat -c '%n %F %s')
    assert_equal "$after" "$before"
}

# Some of the moments lie in the start (the first milliseconds), some in the run.
@test "C9: 100 kills of sbox at random moments leave nothing" {
    scene
    set_bare
    local n pid
    for ((n = 0; n < 100; n++)); do
        "${BARE[@]}" "$SBOX" run sleep "$MARK" 3>&- >/dev/null 2>&1 </dev/null &
        pid=$!
        sleep "0.0$(printf '%02d' $((RANDOM % (n % 2 ? 25 : 99))))"
        family=($(descendants "$pid"))
        kill -9 "$pid"
        wait "$pid" 2>/dev/null || true
        check_nothing_left "$n"
    done
    inside true
    assert_status 0
}

# Its helpers too: whoever kills the guard or init must not be left with an unguarded command.
@test "C9: a kill of any one process of sbox ends the run" {
    scene
    set_bare
    local n pid victim
    for n in 1 2 3 4; do
        "${BARE[@]}" "$SBOX" run sleep "$MARK" 3>&- >/dev/null 2>&1 </dev/null &
        pid=$!
        wait_for 10 pgrep -u "$(id -u)" -x -f "sleep $MARK"
        family=($(descendants "$pid"))
        victim=${family[n - 1]:-$pid}
        kill -9 "$victim"
        wait "$pid" 2>/dev/null || true
        check_nothing_left "of process $n of ${#family[@]}"
    done
}

@test "C9: SIGTERM, SIGINT and SIGHUP to sbox end the run and leave nothing" {
    scene
    set_bare
    local signal pid status
    for signal in TERM INT HUP; do
        # bash starts background jobs with SIGINT ignored; env puts it back
        "${BARE[@]}" env --default-signal=INT "$SBOX" run sleep "$MARK" 3>&- >/dev/null 2>&1 </dev/null &
        pid=$!
        wait_for 10 pgrep -u "$(id -u)" -x -f "sleep $MARK"
        family=($(descendants "$pid"))
        kill -s "$signal" "$pid"
        status=0
        wait "$pid" || status=$?
        assert_equal "$status" "$((128 + $(kill -l "$signal")))"
        check_nothing_left "$signal"
    done
}
