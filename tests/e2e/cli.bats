#!/usr/bin/env bats
# Bad input: one clear line, the right exit status, nothing written.

load ../helpers/common

# refuses STATUS TEXT ARG…
refuses()
{
    local expected=$1 text=$2
    shift 2
    run -"$expected" --separate-stderr sbox "$@"
    assert_equal "$output" ""
    assert_stderr_has "$text"
    assert_equal "${#stderr_lines[@]}" 1
    [[ $stderr == 'sbox: '* ]] || fail "not sbox's own line: $stderr"
    nothing_written
}

nothing_written()
{
    if [[ -e $HOME/.local ]]; then fail "something was written: $(find "$HOME/.local")"; fi
    assert_equal "$(ls -A "$P")" probe
}

@test "mistakes on the command line of lock, verify, status and sbox itself: 2" {
    refuses 2 'no command given'
    refuses 2 "unknown option '--bogus'" --bogus
    refuses 2 "did you mean '--json'?" --jsn verify
    refuses 2 "did you mean '--all'?" verify --al
    refuses 2 "did you mean '--workspace'?" lock --workspce=.
    refuses 2 "'--offline' is an option of run, not of verify" verify --offline
    refuses 2 "'-C' needs a value: DIR" lock -C
    refuses 2 "'--workspace' needs a value: DIR" status --workspace=
    refuses 2 "'--json' takes no value" status --json=1
    refuses 2 "'status' takes no arguments" status now
    refuses 2 "'--all' after a PATH" verify node_modules --all
    refuses 2 "'export' is not built yet" export
}

@test "mistakes on the command line of run and the short form: 125" {
    refuses 125 "did you mean '--offline'?" --ofline true
    refuses 125 "did you mean '--offline'?" run --off true
    refuses 125 "'--json' is an option of lock, verify, status, doctor, diff, restore, gc, forget, log and suggest, not of run" --json true
    refuses 125 'no command to run' run
    refuses 125 'no command to run' --
    refuses 125 "'--verify' takes fast|full, not 'none'" --verify=none true
    refuses 125 "'--pass-fd' takes the number of a descriptor" --pass-fd 1 true
    refuses 125 "'-e' needs a value: NAME[=VALUE]" run -e
    refuses 125 "'-o' needs a value: HOSTS" -o
    refuses 125 "'--allow-net-out' needs a value: HOSTS" -o '' true
    refuses 125 "'a.test' is no command; if it is a host" --allow-net-out a.test true
    refuses 125 "no host in ',,'" --allow-net-out=,, true
}

@test "a mistyped verb is not run as a command" {
    refuses 127 "did you mean 'sbox verify'?" verfy
    refuses 127 "did you mean 'sbox status'?" -n stauts
    refuses 127 "did you mean 'sbox --help'?" help
}

@test "a directory that is not there, and one that may not be a root" {
    refuses 2 'nowhere' verify -C nowhere
    refuses 2 'nowhere' lock --workspace nowhere
    refuses 2 'probe' status -C probe
    refuses 2 '/' lock --workspace /
    refuses 2 "$HOME" lock --workspace "$HOME"
}

@test "names from outside reach the terminal escaped" {
    refuses 2 '--\x1b[31m\xff' lock $'--\e[31m\xff'
    refuses 2 'n\x1b[31mo' verify -C $'n\e[31mo'
}

@test "with --json there is one document on standard output, whatever happens" {
    local line
    while IFS='|' read -r expected schema line; do
        run --separate-stderr sbox $line
        assert_status "$expected"
        jq -e --arg schema "$schema" --argjson exit "$expected" '
            .schema == $schema and .exit == $exit and .result == null
            and (.error.message | type == "string") and (.error.code | test("^E[A-Z]+$"))
            and (keys | sort == ["error", "exit", "result", "root", "schema"])' <<<"$output"
        assert_equal "${#lines[@]}" 1
        [[ -n $stderr ]] || fail "nothing on stderr: $line"
    done <<'END'
2|sbox.verify/1|verify --json --bogus
2|sbox.verify/1|verify --bogus --json
2|sbox.lock/1|--json lock -C
2|sbox.status/1|status --json now
2|sbox.key/1|--json key
2|sbox.usage/1|--json
2|sbox.lock/1|lock --json -C nowhere
2|sbox.verify/1|verify --json --workspace /
END
    nothing_written
}

@test "--help and --version, as text and as JSON" {
    run --separate-stderr sbox --help
    assert_status 0
    assert_output_has 'Usage: sbox [OPTIONS] COMMAND'
    local verb
    for verb in lock verify status run doctor; do
        assert_output_has "  $verb "
        run --separate-stderr sbox "$verb" --help
        assert_status 0
        assert_output_has "Usage: sbox $verb"
        assert_equal "$stderr" ""
        run --separate-stderr sbox --help
    done
    run --separate-stderr sbox --version
    assert_status 0
    [[ $output =~ ^sbox\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$output"
    sbox --json --version | jq -e '.schema == "sbox.version/1" and .exit == 0 and .error == null'
    sbox verify --json --help | jq -e '.result.text | startswith("Usage: sbox verify")'
    nothing_written
}

@test "closed standard descriptors" {
    run bare bash -c 'exec 1>&-; "$1" --version' - "$SBOX"
    assert_status 0
    run bare bash -c 'exec 0<&- 1>&- 2>&-; "$1" lock --bogus' - "$SBOX"
    assert_status 2
    run bare bash -c 'exec 0<&- 1>&- 2>&-; "$1" run --bogus true' - "$SBOX"
    assert_status 125
    nothing_written
}

@test "standard output that takes nothing: an error, not silence" {
    run bare bash -c '"$1" --help >/dev/full' - "$SBOX"
    assert_status 2
    assert_output_has 'write to standard output: No space left on device'
    run bare bash -c '"$1" verify --json >/dev/full' - "$SBOX"
    assert_status 2
    assert_output_has 'No space left on device'
}

@test "HOME unset or relative: said, nothing written" {
    run --separate-stderr env -i PATH=/usr/bin:/bin "$SBOX" lock
    assert_status 2
    assert_stderr_has 'HOME'
    run --separate-stderr env -i PATH=/usr/bin:/bin HOME=. "$SBOX" verify
    assert_status 2
    assert_stderr_has 'HOME'
    nothing_written
}
