# Loaded by every bats file:  load ../helpers/common
#
# run-bats has dropped root and emptied the environment before; SBOX_BIN_DIR holds the programs.
# Each test gets a directory $T of its own below the user's home (sbox refuses a root in /tmp):
#
#     $T/home           $HOME of the test: nothing of the real one is touched
#     $T/home/project   $P, the workspace; the current directory
#     $T/outside        a neighbour that the sandbox must not see
#
#     bare CMD…         CMD with nothing but HOME USER LOGNAME PATH LANG TERM in its environment,
#                       and what the array ENV adds (ENV=(NAME=VALUE …))
#     sbox ARG…         the program under test, so
#     inside ARG…       run sbox run ARG…: sets $status, $output, $stderr
#     in_host CMD…      starts CMD (a program) in the background, bare; killed in teardown. Its
#                       words are in $T/host.out and $T/host.err, its pid is ${HOST_PIDS[-1]}
bats_require_minimum_version 1.5.0

SBOX=${SBOX_BIN_DIR:?run through tests/helpers/run-bats}/sbox
for candidate in "$SBOX_BIN_DIR" "$SBOX_BIN_DIR"/bin "$SBOX_BIN_DIR"/src; do
    if [[ -x $candidate/sbox ]]; then SBOX=$candidate/sbox; fi
done
PROBE=$SBOX_BIN_DIR/probe
if [[ ! -x $PROBE ]]; then PROBE=$SBOX_BIN_DIR/tests/helpers/probe; fi
LAYERS_OFF=$SBOX_BIN_DIR/sbox-layers-off
if [[ ! -x $LAYERS_OFF ]]; then LAYERS_OFF=$SBOX_BIN_DIR/tests/helpers/sbox-layers-off; fi
E2E=$SBOX_SOURCE_DIR/tests/e2e
HELPERS=$SBOX_SOURCE_DIR/tests/helpers
FIXTURES=$SBOX_SOURCE_DIR/fixtures
REAL_HOME=$HOME
ENV=()
HOST_PIDS=()

# A skipped test is a test that nobody ran.
skip()
{
    echo "a test called skip: ${*:-no reason}" >&2
    return 1
}

fail()
{
    printf '%s\n' "$@" >&2
    return 1
}

# The array BARE: what stands before a command to give it the bare environment.
# LeakSanitizer needs ptrace of its own process, which an undumpable supervisor refuses.
set_bare()
{
    BARE=(env -i HOME="$HOME" USER="$(id -un)" LOGNAME="$(id -un)" LANG=C.UTF-8
        TERM="${TERM:-dumb}" PATH=/usr/local/bin:/usr/bin:/bin
        ASAN_OPTIONS="${SBOX_ASAN_OPTIONS:-detect_leaks=0:abort_on_error=0}" "${ENV[@]}")
}

bare()
{
    set_bare
    "${BARE[@]}" "$@"
}

sbox()
{
    bare "$SBOX" "$@"
}

# Runs CMD inside and keeps $status, $output and $stderr.
inside()
{
    run --separate-stderr sbox run "$@"
}

setup_project()
{
    T=$(mktemp -d "$REAL_HOME/sbox-test.XXXXXX")
    HOME=$T/home
    P=$HOME/project
    mkdir -p "$P" "$T/outside"
    cp "$PROBE" "$P/probe"
    cd "$P" || return 1
}

# A git repository in $P with one commit; the user's own git configuration is that of $HOME.
setup_git()
{
    git config --global user.name Tester
    git config --global user.email tester@example.test
    git config --global init.defaultBranch main
    git init -q "$P"
    git -C "$P" add -A
    git -C "$P" commit -q --allow-empty -m start
}

clean_project()
{
    local pid
    for pid in "${HOST_PIDS[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
    HOST_PIDS=()
    cd / || return 1
    if [[ -n ${T:-} && -d $T ]]; then
        chmod -R u+rwX "$T" 2>/dev/null || true
        rm -rf "$T"
    fi
}

setup()
{
    setup_project
}

teardown()
{
    clean_project
}

# bats waits for everything that holds descriptor 3. A plain command, no function: $! is then the
# program itself, and killing it leaves nothing behind.
in_host()
{
    set_bare
    "${BARE[@]}" "$@" 3>&- >"$T/host.out" 2>"$T/host.err" </dev/null &
    HOST_PIDS+=($!)
}

# wait_for SECONDS CMD…: until CMD succeeds. A bound, not a measurement.
wait_for()
{
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= end)); then
            fail "never became true: $*"
            return 1
        fi
        sleep 0.05
    done
}

# Ended, though bash may not have collected it yet.
has_ended()
{
    ! grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" 2>/dev/null
}

# finish SECONDS: the program that in_host started last ends by itself; sets $status.
finish()
{
    wait_for "$1" has_ended "${HOST_PIDS[-1]}"
    status=0
    wait "${HOST_PIDS[-1]}" || status=$?
}

# All processes below one, itself not included.
descendants()
{
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        descendants "$child"
    done
}

assert_status()
{
    if [[ $status -ne $1 ]]; then
        fail "exit status $status, expected $1" "stdout: $output" "stderr: ${stderr:-}"
    fi
}

assert_equal()
{
    if [[ $1 != "$2" ]]; then fail "got:      $1" "expected: $2"; fi
}

# Whole text (stdout of the last run) contains the words.
assert_output_has()
{
    if [[ $output != *"$1"* ]]; then fail "not in stdout: $1" "stdout: $output" "stderr: ${stderr:-}"; fi
}

refute_output_has()
{
    if [[ $output == *"$1"* ]]; then fail "in stdout: $1" "stdout: $output"; fi
}

assert_stderr_has()
{
    if [[ ${stderr:-} != *"$1"* ]]; then fail "not in stderr: $1" "stderr: ${stderr:-}"; fi
}

refute_stderr_has()
{
    if [[ ${stderr:-} == *"$1"* ]]; then fail "in stderr: $1" "stderr: $stderr"; fi
}

# No process has this text in its command line. The text is in this shell's memory only.
assert_no_process()
{
    local text=$1 found
    found=$(pgrep -f -- "$text" || true)
    if [[ -n $found ]]; then fail "still running: $found" "$(ps -o pid,ppid,args -p ${found//$'\n'/,})"; fi
}
