# cases/containment: processes, limits, the kernel's settings, terminals, git.
load ../helpers/common
load ../helpers/attack

@test "C16: kill(0) ends nothing outside: not the shell, not make, not sbox's caller" {
    cat >"$T/job" <<SCRIPT
'$SBOX' run ./probe host.kill-group
echo "shell lives"
SCRIPT
    run --separate-stderr bare setsid -w bash "$T/job"
    assert_output_has 'shell lives'
    printf 'all:\n\t-@%s run ./probe host.kill-group\n\t@echo make lives\n' "$SBOX" >Makefile
    run --separate-stderr bare setsid -w make
    assert_output_has 'make lives'
}

@test "C16: kill(-1) ends nothing outside" {
    in_host sleep 300
    inside sh -c 'trap "" TERM; ./probe host.kill-all; exit 0'
    kill -0 "${HOST_PIDS[0]}"
}

@test "C18: writing /proc/1/exe and friends is refused, and sbox is unchanged" {
    local before
    before=$(sha256sum "$SBOX")
    inside sh -c 'for f in /proc/1/exe /proc/self/exe /proc/sys/kernel/core_pattern \
        /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/1/mem /proc/1/oom_score_adj; do
        if echo x >>$f; then echo "wrote $f"; fi; done 2>/dev/null
        for f in /proc/kcore /proc/kallsyms /sys/firmware/memmap /proc/keys; do
        if [ -n "$(head -c 1 $f | tr -d "\0")" ]; then echo "read $f"; fi; done 2>/dev/null; :'
    assert_status 0
    assert_equal "$output" ""
    assert_equal "$(sha256sum "$SBOX")" "$before"
}

@test "C19: nothing outlives the run: setsid, a double fork, nohup" {
    local mark=87651.$$
    inside sh -c "setsid sleep $mark & (setsid sh -c 'sleep $mark & exit' &) ; nohup sleep $mark & sleep 0.2"
    assert_status 0
    assert_no_process "sleep $mark"
}

@test "C19: a server's port is free after the run" {
    inside sh -c "setsid /usr/bin/python3 -m http.server 18765 --bind 127.0.0.1 >/dev/null 2>&1 & sleep 0.5"
    assert_status 0
    /usr/bin/python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 18765))'
}

# Under a limit sbox either works in full or refuses with a line of its own: never a half.
check_limited()
{
    # a dynamic sbox may not even be loaded: 127, which bats would take for a mistake in the test
    run --separate-stderr bash -c 'bash -c "$1"; status=$?; exit $((status == 127 ? 1 : status))' - \
        "ulimit $1 && exec env -i HOME='$HOME' USER=x LOGNAME=x PATH=/usr/bin:/bin \
        ASAN_OPTIONS=detect_leaks=0 '$SBOX' run touch marker"
    if [[ -e marker ]]; then
        assert_status 0
        rm marker
    else
        [[ $status -ne 0 ]]
        [[ -n $stderr ]]
    fi
}

@test "C20: few descriptors" {
    check_limited '-n 12'
    check_limited '-n 6'
    assert_status 125
    assert_stderr_has 'sbox: '
}

@test "C20: few processes" {
    check_limited '-u 1'
    assert_status 125
    assert_stderr_has 'sbox: '
}

@test "C20: little address space" {
    check_limited '-v 8000'
    check_limited '-v 12000'
    check_limited '-v 20000'
}

@test "C20: no room in a file" {
    check_limited '-f 0'
}

refuses_without()
{
    run --separate-stderr bare "$PROBE" without "$1" "$SBOX" run touch marker
    assert_status 125
    assert_stderr_has 'sbox: '
    [[ ! -e marker ]]
    if [[ ! ${stderr,,} =~ $2 ]]; then fail "does not name $2: $stderr"; fi
}

@test "C21: user namespaces off: refuses, names the setting" {
    run --separate-stderr bare unshare -Ur sh -c \
        "echo 0 >/proc/sys/user/max_user_namespaces && exec '$SBOX' run touch marker"
    assert_status 125
    assert_stderr_has max_user_namespaces
    [[ ! -e marker ]]
}

@test "C21: namespaces refused by a filter, as in a container" {
    refuses_without namespaces 'namespace'
}

@test "C21: no Landlock: refuses, names it" {
    refuses_without landlock 'landlock'
}

@test "C21: no seccomp: refuses, names it" {
    refuses_without seccomp 'seccomp'
}

@test "C33: init cannot be stopped, limited or deceived, and masks still come back" {
    plant_file .env "K=$CANARY"
    in_host "$SBOX" run sh -c './probe init.kill-stop init.kill-term init.kill-kill init.tgkill \
        init.sigqueue-user init.sigqueue-kernel init.sigqueue-queue init.rlimit-nofile \
        init.rlimit-cpu init.rlimit-fsize init.pidfd-signal init.ptrace-attach >rows
        prlimit --pid 1 --nofile=0:0; prlimit --pid 1 --cpu=1; touch up
        while [ ! -e go ]; do sleep 0.02; done; cat .env >seen; touch done'
    wait_for 20 test -e up
    run grep OK rows
    assert_equal "$output" ""
    printf '%s\n' "K=$CANARY" >.env.tmp-save
    mv .env.tmp-save .env
    sleep 0.3
    touch go
    wait_for 20 test -e done
    [[ ! -s seen ]]
    finish 10
    assert_equal "$status" 0
}

@test "C33: init is in the command's network namespace, not in the host's" {
    in_host "$SBOX" run sh -c 'touch up; sleep 60'
    wait_for 20 test -e up
    local init command
    init=$(pgrep -P "${HOST_PIDS[-1]}" | head -n 1)
    command=$(pgrep -P "$init" | head -n 1)
    # Numbers of files in /proc/PID/net are of the namespace.
    inode_of() { stat -L -c %i "/proc/$1/net/dev"; }
    assert_equal "$(inode_of "$init")" "$(inode_of "$command")"
    [[ $(inode_of "$init") != "$(inode_of self)" ]]
}

streams='echo out >/dev/stdout; echo err | tee /dev/stderr >/dev/null; cat </dev/stdin; ls / >/dev/null; tty'

@test "C34: the standard streams opened again: a pipe behind each" {
    run --separate-stderr bash -c 'echo in | "$@"' - env -i HOME="$HOME" PATH=/usr/bin:/bin \
        ASAN_OPTIONS=detect_leaks=0 "$SBOX" run sh -c "$streams"
    assert_equal "$output" $'out\nin\nnot a tty'
    assert_equal "$stderr" err
}

@test "C34: the standard streams opened again: a file behind each" {
    echo in >"$T/in"
    bare "$SBOX" run sh -c "$streams || :" <"$T/in" >"$T/out" 2>"$T/err"
    bare sh -c "$streams || :" <"$T/in" >"$T/out.bare" 2>"$T/err.bare"
    assert_equal "$(cat "$T/out")" "$(cat "$T/out.bare")"
    assert_equal "$(cat "$T/err")" "$(cat "$T/err.bare")"
}

@test "C34: the standard streams opened again: a terminal behind each" {
    run bare script -qec "$SBOX run sh -c 'echo out >/dev/stdout; echo err >/dev/stderr; tty; test -t 0 && test -t 1 && echo terminal; echo x >/dev/tty'" /dev/null
    assert_status 0
    [[ $output == *out*err*/dev/*terminal*x* ]] || fail "$output"
}

@test "C35: git switch between branches that differ in tracked vendor, .github, .vscode" {
    plant_file vendor/modules.txt one
    plant_file .github/workflows/ci.yml one
    plant_file .vscode/tasks.json one
    printf 'probe\n' >.gitignore
    setup_git
    git switch -q -c other
    printf 'two\n' | tee vendor/modules.txt .github/workflows/ci.yml .vscode/tasks.json >/dev/null
    git commit -qam two
    git switch -q main
    inside git switch -q other
    if [[ $status -eq 0 ]]; then
        assert_equal "$(git branch --show-current)" other
        assert_equal "$(cat vendor/modules.txt .github/workflows/ci.yml .vscode/tasks.json)" $'two\ntwo\ntwo'
    else
        [[ -n $stderr ]]
        assert_equal "$(git branch --show-current)" main
        assert_equal "$(cat vendor/modules.txt .github/workflows/ci.yml .vscode/tasks.json)" $'one\none\none'
    fi
    assert_equal "$(git status --porcelain)" ""
}

@test "C27: git config changed by the host ends the run; nothing from inside gets into it" {
    setup_git
    in_host "$SBOX" run sh -c 'touch up; while :; do echo evil >>.git/config; sleep 0.01; done 2>/dev/null'
    wait_for 10 test -e up
    git config branch.main.remote elsewhere
    finish 10
    [[ $status -ne 0 ]]
    grep -q 'sbox: ' "$T/host.err"
    run grep -c evil .git/config
    assert_equal "$output" 0
    assert_equal "$(git config branch.main.remote)" elsewhere
}

@test "C27: a tree replaced by the host ends the run and is refused by the next" {
    plant_file node_modules/a/package.json '{"name":"a","version":"1.0.0"}'
    sbox lock -q
    in_host "$SBOX" run sh -c 'touch up; while :; do echo evil >>node_modules/a/evil.js; sleep 0.01; done 2>/dev/null'
    wait_for 10 test -e up
    rm -rf node_modules
    plant_file node_modules/a/package.json '{"name":"a","version":"1.0.0"}'
    finish 10
    [[ $status -ne 0 ]]
    grep -q 'sbox: ' "$T/host.err"
    [[ ! -e node_modules/a/evil.js ]]
    inside true
    assert_status 120
}

# Each of these ends the run; git on the host must run nothing of what was planted.
planted_in_git()
{
    setup_git
    if [[ $1 == git.plant.hooks ]]; then rm -rf .git/hooks; fi
    git status --porcelain >"$T/before"
    inside ./probe "$1"
    [[ $status -ne 0 || $output != *OK* ]]
    git status --porcelain >"$T/after" # git still works
    cmp "$T/before" "$T/after"
    [[ ! -e .git/commondir && ! -e .git/config.worktree && ! -e .git/hooks/post-checkout ]]
}

@test "C28: .git/commondir planted from inside" {
    planted_in_git git.plant.commondir
}

@test "C28: .git/config.worktree planted from inside" {
    planted_in_git git.plant.config-worktree
}

@test "C28: .git/hooks planted where there were none" {
    planted_in_git git.plant.hooks
}

@test "S16: a crash leaves no core and starts no handler" {
    inside sh -c 'ulimit -c; ulimit -Hc; ulimit -c unlimited; sh -c "kill -SEGV \$\$"; ls'
    refute_output_has core
    # setting it succeeds and changes nothing: the limit stays 1, at which no handler is started
    inside ./probe self.core-limit-raise self.core self.core-limit self.core-limit-lower
    assert_output_has $'self.core-limit\t1'
    assert_output_has $'self.core\tno core'
}
