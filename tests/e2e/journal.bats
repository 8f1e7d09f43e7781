# What a networked run leaves behind: log --net, suggest, journal.db.
# ctest-labels: egress
load ../helpers/common
load ../helpers/egress
PROXY_ENV=--proxy-env

two_hosts()
{
    inside -o allowed.test sh -c 'curl -s http://allowed.test/; curl -s http://denied.test/ >/dev/null; exit 3' secret-word
    assert_status 3
}

@test "log --net: hosts reached and refused, with bytes; --json the same" {
    two_hosts
    run --separate-stderr sbox log --net
    assert_status 0
    assert_output_has '  sh, exit 3, '
    assert_output_has 'reached  allowed.test:80'
    assert_output_has 'refused  denied.test:80  not listed'
    run --separate-stderr sbox log --net --json
    assert_status 0
    assert_equal "$(jq -r '.schema, .exit, (.result.runs | length)' <<<"$output" | xargs)" 'sbox.log/1 0 1'
    assert_equal "$(jq -r '.result.runs[0].connections[] | select(.verdict == "allowed") | .host, .port, (.address | length > 6)' \
        <<<"$output" | head -n 3 | xargs)" 'allowed.test 80 true'
    (($(jq '[.result.runs[0].connections[] | select(.verdict == "allowed") | .bytes_in] | add' <<<"$output") > 10))
    (($(jq '[.result.runs[0].connections[] | select(.verdict == "allowed") | .bytes_out] | add' <<<"$output") > 10))
}

@test "suggest: the list that the last run asked for" {
    two_hosts
    run --separate-stderr sbox suggest
    assert_status 0
    assert_equal "$output" '--allow-net-out=allowed.test,denied.test'
    # shellcheck disable=SC2086
    inside $output sh -c 'curl -s http://denied.test/'
    assert_status 0
    run --separate-stderr sbox suggest --json
    assert_equal "$(jq -c .result <<<"$output")" '{"hosts":["denied.test"],"allow_private":false}'
}

@test "no networked run: said, and 2 from suggest" {
    run --separate-stderr sbox log --net
    assert_status 0
    assert_output_has 'no run of this project used the network'
    run --separate-stderr sbox suggest
    assert_status 2
    [[ $stderr == *'no run of this project asked for a host'* ]]
    [[ ! -e $HOME/.local/share/sbox/journal.db ]]
}

@test "the journal holds no arguments" {
    two_hosts
    run grep -c secret-word "$HOME/.local/share/sbox/journal.db"
    assert_equal "$output" 0
}

@test "a damaged journal: an error for its readers, a note for a run" {
    two_hosts
    printf 'not a database' >"$HOME/.local/share/sbox/journal.db"
    run --separate-stderr sbox log --net
    assert_status 2
    [[ $stderr == *journal.db* ]]
    two_hosts
    [[ $stderr == *"the run's connections are not recorded"* ]]
    assert_equal "$(<"$HOME/.local/share/sbox/journal.db")" 'not a database'
}
