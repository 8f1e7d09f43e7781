# cases/egress E10 and E11: what load does to a run's proxy. Its memory stays bounded, a good request is
# served while the load lasts, and it does not spin.
#
# The tunnel carries SBOX_TUNNEL_GB gigabytes, 1 by default; tests/helpers/soak makes it 10.
#
# ctest-labels: egress
# ctest-timeout: 900
load ../helpers/common
load ../helpers/egress

# freed memory goes back under the address sanitizer as well
SBOX_ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0
MOST_MEGABYTES=64
# a sanitizer's allocator gives little back: there the bound only catches what grows without end
if grep -q __asan_init "${SBOX%/*}/sbox-proxy"; then MOST_MEGABYTES=640; fi

# under_load OPTIONS… -- LOAD-WORDS…: starts the run, waits until the load stands; sets $proxy.
# Further requests of the same run: ask CMD…
under_load()
{
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    cp "$HELPERS/egress/load" "$P/load"
    rm -f up go stop loaded load.err
    printf '%q ' "$@" >load.words
    cat >serve.sh <<'SCRIPT'
touch up
while [ ! -e go ]; do sleep 0.05; done
eval "./load $(cat load.words)" >loaded 2>load.err & load=$!
while [ ! -e stop ]; do
    if [ -e ask ]; then mv ask asked; sh ./asked >answer.new 2>&1; echo "status $?" >>answer.new; mv answer.new answer; fi
    sleep 0.05
done
wait $load
SCRIPT
    in_host "${WRAP[@]}" "$SBOX" run --proxy-env "${options[@]}" sh serve.sh
    wait_for 20 test -e up
    proxy_is_there
    START_KB=$(memory_of "$proxy")
    touch go
    wait_for 120 load_stands
}

proxy_is_there()
{
    local child
    for child in $(descendants "${HOST_PIDS[-1]}"); do
        if [[ $(cat "/proc/$child/comm" 2>/dev/null) == sbox-proxy ]]; then
            proxy=$child
            return
        fi
    done
    return 1
}

load_stands()
{
    if [[ -s load.err ]]; then
        cat load.err >&2
        return 0
    fi
    grep -q . loaded
}

memory_of()
{
    awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"
}

ticks_of()
{
    awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# A good request of the same run, while the load lasts.
ask()
{
    rm -f answer
    echo "$*" >ask.new
    mv ask.new ask
    wait_for 60 test -e answer
    output=$(cat answer)
}

good_request_is_served()
{
    ask curl -sS -m 30 http://allowed.test/
    assert_output_has 'host allowed.test'
    ask ./direct curl -sS -m 30 http://allowed.test/
    assert_output_has 'host allowed.test'
    ask curl -sS -m 30 -f http://denied.test/
    assert_output_has 'status 22'
}

memory_is_bounded()
{
    local now
    now=$(memory_of "$proxy")
    if ((now - START_KB > MOST_MEGABYTES * 1024)); then fail "grew from $START_KB to $now KB"; fi
}

# Nothing arrives, so nothing is to be done: of two seconds' 200 ticks an eighth at most.
does_not_spin()
{
    local before
    before=$(ticks_of "$proxy")
    sleep 2
    local used=$(($(ticks_of "$proxy") - before))
    if ((used > 25)); then fail "used $used ticks for nothing"; fi
}

end_load()
{
    touch stop
    finish 60
    assert_equal "$(cat load.err)" ''
    assert_equal "$status" 0
    assert_equal "$(proxies)" ''
}

@test "E10: 2,000 connections whose heads arrive a byte a second" {
    under_load -o allowed.test -- half-open 2000
    good_request_is_served
    does_not_spin
    memory_is_bounded
    end_load
}

@test "E10: thousands of connections that say nothing" {
    under_load -o allowed.test -- idle 6000
    good_request_is_served
    does_not_spin
    memory_is_bounded
    end_load
}

@test "E10: a head of a megabyte is refused before it is read" {
    under_load -o allowed.test -- big-head 1000000
    grep -q 'HTTP/1.1 4[03][01] ' loaded
    good_request_is_served
    memory_is_bounded
    end_load
}

@test "E10: no descriptors left: the proxy waits without spinning, and goes on afterwards" {
    WRAP=(bash -c 'ulimit -n 128; exec "$@"' -)
    under_load -o allowed.test -- idle 500
    does_not_spin
    memory_is_bounded
    touch stop
    finish 60
    # connections that end make room again
    under_load -o allowed.test -- idle 60
    good_request_is_served
    end_load
}

@test "E10: 500 tunnels at once, each with its own bytes" {
    under_load -o allowed.test,allowed.test:7 -- tunnels 500 allowed.test 7
    grep -q loaded loaded
    good_request_is_served
    does_not_spin
    memory_is_bounded
    end_load
}

@test "E10: 100 slow readers of endless answers" {
    under_load -o allowed.test -- slow-readers 100 http://allowed.test/bytes/1000000000000
    good_request_is_served
    does_not_spin
    memory_is_bounded
    end_load
}

@test "E11: gigabytes through one tunnel" {
    local bytes=$((${SBOX_TUNNEL_GB:-1} * 1000000000)) most=0 now
    cp "$HELPERS/egress/load" "$P/load"
    in_host "$SBOX" run --proxy-env -o allowed.test sh -c "touch up; while [ ! -e go ]; do sleep 0.05; done
        ./load transfer $bytes allowed.test >carried"
    wait_for 20 test -e up
    proxy_is_there
    START_KB=$(memory_of "$proxy")
    touch go
    while ! has_ended "${HOST_PIDS[-1]}"; do
        now=$(memory_of "$proxy" 2>/dev/null || true)
        if ((${now:-0} > most)); then most=$now; fi
        sleep 0.2
    done
    finish 10
    assert_equal "$status" 0
    assert_equal "$(cat carried)" "$bytes"
    if ((most - START_KB > MOST_MEGABYTES * 1024)); then fail "grew from $START_KB to $most KB"; fi
}
