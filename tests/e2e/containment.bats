# cases/containment: files and descriptors. The number in a test's name is the case's.
load ../helpers/common
load ../helpers/attack

secret()
{
    plant_file "$1" "API_KEY=$CANARY"
}

@test "C1: nested namespaces do not bring a masked file back" {
    secret "$P/.env"
    setup_git
    run --separate-stderr bare ./probe nested.dirfd-env
    assert_equal "$output" $'nested.dirfd-env\tOK' # outside it works
    inside ./probe nested.dirfd-env nested.umount-env nested.pivot-env
    assert_equal "$output" $'nested.dirfd-env\tEPERM\nnested.umount-env\tEPERM\nnested.pivot-env\tEPERM'
}

@test "C1: the masks hold when the process that was started first has gone on" {
    secret "$P/.env"
    inside sh -c '(setsid sh -c "sleep 0.2; cat .env; : >done" >seen &)
        exec sh -c "while [ ! -e done ]; do sleep 0.02; done"'
    assert_status 0
    [[ -e seen && ! -s seen ]]
}

@test "C2: a new root and a kept descriptor move no protected name" {
    secret "$P/.env"
    setup_git
    local before
    before=$(sha256sum .git/config; ls .git)
    inside ./probe nested.pivot-rename-env nested.pivot-rename-config nested.pivot-rename-hooks
    refute_output_has OK
    assert_equal "$(sha256sum .git/config; ls .git)" "$before"
    grep -q "$CANARY" .env
}

# The sandbox answers a question a second time after each save of the host: `go` files ask.
@test "C3: a file saved anew by the host while a command runs is hidden again" {
    secret "$P/.env"
    in_host "$SBOX" run sh -c 'touch up; n=0; while [ $n -lt 10 ]; do
        while [ ! -e go.$n ]; do sleep 0.02; done
        cat .env >tmp.$n 2>&1; mv tmp.$n seen.$n; n=$((n + 1)); done'
    wait_for 10 test -e up
    local n
    for n in 0 1 2 3 4 5 6 7 8 9; do
        printf 'API_KEY=%s\n' "$CANARY-$n" >.env.new-save
        mv .env.new-save .env
        sleep 0.1
        touch "go.$n"
        wait_for 10 test -e "seen.$n"
        if grep -q "$CANARY" "seen.$n"; then fail "save $n was readable"; fi
    done
    finish 10
    assert_equal "$status" 0
    grep -q '\.env' "$T/host.err" # and the run says so
    grep -q "$CANARY-9" .env      # the host's file is the host's
}

@test "C4: no capability in any set; unmounting and binding are refused" {
    secret "$P/.env"
    inside grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):' /proc/self/status
    assert_status 0
    assert_equal "$(printf '%s\n' "$output" | awk '{print $2}' | sort -u)" 0000000000000000
    assert_equal "${#lines[@]}" 5
    inside sh -c 'mkdir v; umount .env; mount --bind . v; cat .env v/.env'
    refute_output_has "$CANARY"
    inside ./probe mount.umount-env mount.bind-workspace
    assert_equal "$output" $'mount.umount-env\tEPERM\nmount.bind-workspace\tEPERM'
}

@test "C5: a link that leads out of the project makes nothing outside" {
    mkdir "$T/outside/editor"
    ln -s "$T/outside/editor" .vscode
    ln -s "$T/outside/editor" .husky
    setup_git
    local before
    before=$(stat -c '%n %Y %Z' "$T/outside" "$T/outside/editor")
    inside sh -c 'mkdir -p .vscode/x; echo "{}" >.vscode/tasks.json; ls'
    assert_equal "$(ls -A "$T/outside/editor")" ""
    assert_equal "$(stat -c '%n %Y %Z' "$T/outside" "$T/outside/editor")" "$before"
}

@test "C6: a project below a directory that cannot be listed starts" {
    mkdir -p "$HOME/closed/deep/p"
    chmod 0711 "$HOME/closed/deep"
    chmod 0111 "$HOME/closed"
    cd "$HOME/closed/deep/p"
    inside sh -c 'pwd; touch here'
    assert_status 0
    assert_equal "$output" "$HOME/closed/deep/p"
    [[ -e here ]]
}

check_env_link()
{
    inside cat .env
    refute_output_has "$CANARY"
    inside sh -c 'echo x >/dev/null && ! [ -s /dev/null ] && [ -c /dev/null ] && echo fine'
    assert_status 0
    assert_equal "$output" fine
}

@test "C7: .env is a link to /dev/null" {
    ln -s /dev/null .env
    check_env_link
}

@test "C7: .env is a link to another file of the project" {
    secret "$P/conf/settings"
    ln -s conf/settings .env
    check_env_link
    inside cat conf/settings
    refute_output_has "$CANARY"
    grep -q "$CANARY" conf/settings
}

@test "C7: .env is a link to a file outside" {
    secret "$T/outside/settings"
    ln -s "$T/outside/settings" .env
    check_env_link
    inside cat "$T/outside/settings"
    refute_output_has "$CANARY"
}

@test "C7: .env is a dangling link" {
    ln -s nowhere .env
    check_env_link
    [[ ! -e nowhere && -L .env ]]
}

@test "C8: a sibling whose name begins alike is not reachable" {
    secret "$HOME/project-tools/secret.txt"
    inside sh -c 'cat ../project-tools/secret.txt; ls ..'
    refute_output_has "$CANARY"
    refute_output_has project-tools
    inside touch ../project-tools/planted
    [[ $status -ne 0 && ! -e $HOME/project-tools/planted ]]
}

@test "C10: a write into a hidden directory is an error" {
    secret "$P/.env.d/one"
    inside sh -c 'echo x >.env.d/new'
    [[ $status -ne 0 ]]
    inside sh -c 'ls .env.d; cat .env.d/one'
    refute_output_has "$CANARY"
    [[ ! -e .env.d/new ]]
    inside sh -c "mkdir -p '$HOME/.ssh' && echo x >'$HOME/.ssh/config'"
    [[ $status -ne 0 ]]
    inside sh -c "echo x >'$HOME/notes'"
    [[ $status -ne 0 ]]
}

@test "C11: a current directory that was deleted is refused" {
    mkdir gone
    cd gone
    rmdir ../gone
    inside touch "$P/marker"
    assert_status 125
    assert_stderr_has 'sbox: '
    [[ ! -e $P/marker ]]
}

@test "C11: / and \$HOME are refused as a project" {
    local directory
    for directory in / "$HOME" "$T" /tmp /usr; do
        cd "$directory"
        inside touch "$P/marker"
        assert_status 125
        assert_stderr_has 'sbox: '
        [[ ! -e $P/marker ]]
    done
}

@test "C11: a current directory reached by a link, or by a descriptor" {
    ln -s "$P" "$HOME/link"
    cd "$HOME/link"
    inside sh -c 'pwd -P; touch here'
    assert_status 0
    assert_equal "$output" "$P"
    exec 8<"$P"
    cd "/proc/self/fd/8"
    inside sh -c 'pwd -P; rm here'
    exec 8<&-
    assert_status 0
    assert_equal "$output" "$P"
    [[ ! -e $P/here ]]
}

@test "C12: descriptors above 2 are closed" {
    secret "$HOME/x"
    run --separate-stderr sbox run sh -c 'cat /proc/self/fd/9/x; ls /proc/self/fd' 9<"$HOME"
    refute_output_has "$CANARY"
    assert_equal "$output" $'0\n1\n2\n3' # 3 is ls's own
}

@test "C12: a directory as standard input, output or error is refused" {
    run --separate-stderr sbox run touch marker <"$HOME"
    assert_status 125
    assert_stderr_has 'sbox: '
    [[ ! -e marker ]]
}

@test "C13, C14: threads, node, python and one's own children work under the filter" {
    inside /usr/bin/python3 -c '
import threading, subprocess, multiprocessing.shared_memory as m
t = threading.Thread(target=lambda: print("thread")); t.start(); t.join()
print(subprocess.check_output(["echo", "child"], text=True), end="")'
    assert_status 0
    assert_equal "$output" $'thread\nchild'
    inside node -e 'new (require("worker_threads").Worker)("console.log(1+1)",{eval:true})'
    assert_status 0
    assert_equal "$output" 2
    inside ./probe allow.thread allow.ptrace-child allow.vm-read-child
    assert_equal "$output" $'allow.thread\tOK\nallow.ptrace-child\tOK\nallow.vm-read-child\tOK'
}

@test "C14: gdb and strace see their own children" {
    inside strace -f -o trace.txt true
    assert_status 0
    grep -q 'exited with 0' trace.txt
    inside gdb -nx -batch -ex run -ex 'info inferiors' --args true
    assert_output_has 'exited normally'
}

@test "C15: System V segments and POSIX queues of the host are not there" {
    SCRATCH=$(mktemp -d /tmp/sbox-probe.XXXXXX)
    mkdir -p "$HOME/.gnupg"
    in_host "$PROBE" serve "$SCRATCH"
    wait_for 10 grep -q ready probe.conf
    local rows=(ipc.posix-queue ipc.posix-shm ipc.sysv-sem ipc.sysv-shm)
    run --separate-stderr bare ./probe "${rows[@]}"
    assert_equal "$(grep -c OK <<<"$output")" 4
    inside ./probe "${rows[@]}"
    assert_equal "$(grep -c ENOENT <<<"$output")" 4
    remove_targets
}

@test "C25: the most protective rule that names a path wins, in any order" {
    secret "$P/.env"
    secret "$P/sub/file"
    local order
    for order in '--mask sub --rw sub' '--rw sub --mask sub' '--mask sub --ro .' '--ro . --mask sub'; do
        # shellcheck disable=SC2086
        inside $order cat sub/file
        refute_output_has "$CANARY"
    done
    for order in '--ro sub --rw sub' '--rw sub --ro sub' '--rw . --ro sub' '--ro sub --rw .'; do
        # shellcheck disable=SC2086
        inside $order sh -c 'cat sub/file; echo x >sub/new'
        assert_output_has "$CANARY"
        [[ $status -ne 0 && ! -e sub/new ]]
    done
}

@test "C25: a parent or an alias of the project exposes nothing that is masked" {
    secret "$P/.env"
    setup_git
    plant_file "$HOME/.local/share/sbox/canary"
    chmod 700 "$HOME/.local/share/sbox"
    mkdir "$HOME/other"
    ln -s "$P" "$HOME/other/alias"
    local option
    for option in --rw="$HOME" --ro="$HOME" --rw="$HOME/other" --rw="$HOME/other/alias"; do
        inside "$option" sh -c "cat .env '$HOME/other/alias/.env' '$HOME/.local/share/sbox/canary'
            echo evil >>.git/config; echo evil >>'$HOME/other/alias/.git/config'"
        refute_output_has "$CANARY"
    done
    run grep -c evil .git/config
    assert_equal "$output" 0
}

@test "C25: the project mounted at a second place" {
    secret "$P/.env"
    mkdir "$HOME/second"
    cat >"$T/mounted" <<SCRIPT
mount --bind '$P' '$HOME/second'
grep -q '$CANARY' '$HOME/second/.env' || exit 99
exec '$SBOX' run --rw '$HOME/second' cat '$HOME/second/.env' .env
SCRIPT
    run --separate-stderr bare unshare -Urm sh "$T/mounted"
    [[ $status -ne 99 ]]
    refute_output_has "$CANARY"
}

@test "C25: sbox's own data is never exposed" {
    plant_file "$HOME/.local/share/sbox/canary"
    chmod 700 "$HOME/.local/share/sbox"
    local option
    for option in --rw --ro; do
        inside "$option" "$HOME/.local/share/sbox" cat "$HOME/.local/share/sbox/canary"
        assert_status 125
        refute_output_has "$CANARY"
        assert_stderr_has 'sbox: '
    done
}

@test "C29: a sibling that swaps directories during the start changes nothing" {
    secret "$P/one/.env"
    plant_file "$P/two/.env" "API_KEY=$CANARY"
    plant_file "$P/two/plain" nothing
    in_host "$PROBE" swap one two
    local n refused=0
    for ((n = 0; n < 200; n++)); do
        run --separate-stderr sbox run sh -c 'cat one/.env two/.env 2>/dev/null; exit 0'
        refute_output_has "$CANARY"
        case $status in
        0) ;;
        125) refused=$((refused + 1)) ;;
        *) fail "status $status: $stderr" ;;
        esac
    done
    ((refused < 200)) || fail "every start was refused: $stderr"
    # and when it ends, the next start works
    kill -9 "${HOST_PIDS[-1]}"
    inside sh -c 'cat one/.env two/.env; echo started'
    assert_status 0
    assert_equal "$output" started
}

@test "C31: a tree planted by an ordinary run refuses the next" {
    inside sh -c 'mkdir -p src/node_modules/express; echo evil >src/node_modules/express/index.js'
    assert_status 0
    inside touch marker
    assert_status 120
    assert_stderr_has src/node_modules
    [[ ! -e marker ]]
}
