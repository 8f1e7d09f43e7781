# cases/everyday: commands that must just work. Terminals are in terminal.bats.
load ../helpers/common

@test "D2: sbox run yes | head -1 ends as usual" {
    run timeout 20 bash -c 'set -o pipefail; "$@" | head -1; echo "${PIPESTATUS[0]}"' - \
        env -i HOME="$HOME" PATH=/usr/bin:/bin ASAN_OPTIONS=detect_leaks=0 "$SBOX" run yes
    assert_equal "$output" $'y\n141'
}

@test "D2: exit statuses: 3, 139, 143, 126, 127" {
    inside sh -c 'exit 3'
    assert_status 3
    inside sh -c 'kill -SEGV $$'
    assert_status 139
    inside sh -c 'kill -TERM $$'
    assert_status 143
    echo not-a-program >plain
    inside ./plain
    assert_status 126
    assert_stderr_has 'sbox: '
    run -127 --separate-stderr sbox run no-such-command-here
    assert_equal "$stderr" "sbox: cannot execute 'no-such-command-here': not found in PATH"
    run -127 --separate-stderr sbox run ./no-such-file
}

@test "D2: PATH is searched as a shell does" {
    mkdir -p first second
    printf '#!/bin/sh\necho first\n' >first/tool # not executable: passed over
    printf 'echo "second $1"\n' >second/tool      # no #!: it is sh's
    chmod +x second/tool
    mkdir first/thing # a directory is no command
    with_path() { run --separate-stderr env -i HOME="$HOME" ASAN_OPTIONS=detect_leaks=0 PATH="$1" "$SBOX" run "${@:2}"; }
    with_path "$PWD/absent:$PWD/first:$PWD/second:/usr/bin" tool x
    assert_status 0
    assert_equal "$output" 'second x'
    with_path "$PWD/first:/usr/bin" tool
    assert_status 126
    with_path "$PWD/first:/usr/bin" thing
    assert_status 126
    with_path "$PWD/absent:/usr/bin" tool
    assert_status 127
    with_path /usr/bin '' # no command at all
    assert_status 125
}

@test "D2: the short form, --, and a word that is a verb" {
    run --separate-stderr sbox sh -c 'exit 4'
    assert_status 4
    run --separate-stderr sbox -- sh -c 'exit 5'
    assert_status 5
    run --separate-stderr sbox -- diff /etc/passwd /etc/passwd
    assert_status 0
}

@test "D2: a command without surprises prints nothing of sbox's" {
    inside echo fine
    assert_status 0
    assert_equal "$output" fine
    assert_equal "$stderr" ""
}

@test "D3: toolchains below the home directory are found and read-only" {
    local where
    for where in .cargo/bin .local/bin .bun/bin go/bin .volta/bin .pyenv/shims; do
        mkdir -p "$HOME/$where"
        printf '#!/bin/sh\necho "from %s"\n' "$where" >"$HOME/$where/mytool"
        chmod +x "$HOME/$where/mytool"
        inside "$HOME/$where/mytool"
        assert_status 0
        assert_equal "$output" "from $where"
        inside sh -c 'echo evil >>"$1"' - "$HOME/$where/mytool"
        [[ $status -ne 0 ]]
        if grep -q evil "$HOME/$where/mytool"; then fail "written"; fi
    done
}

@test "D3: a shim that is a link, and one that calls back into the home directory" {
    mkdir -p "$HOME/.nvm/versions/node/v1/bin" "$HOME/.local/bin" "$HOME/.pyenv/shims" "$HOME/.pyenv/libexec"
    printf '#!/bin/sh\necho "nvm $1"\n' >"$HOME/.nvm/versions/node/v1/bin/mynode"
    chmod +x "$HOME/.nvm/versions/node/v1/bin/mynode"
    ln -s ../../.nvm/versions/node/v1/bin/mynode "$HOME/.local/bin/mynode"
    printf '#!/bin/sh\necho "pyenv"\n' >"$HOME/.pyenv/libexec/pyenv"
    printf '#!/bin/sh\nexec "$HOME/.pyenv/libexec/pyenv"\n' >"$HOME/.pyenv/shims/mypy"
    chmod +x "$HOME/.pyenv/libexec/pyenv" "$HOME/.pyenv/shims/mypy"
    ENV=(PATH="$HOME/.local/bin:$HOME/.pyenv/shims:/usr/bin:/bin")
    inside mynode 1
    assert_equal "$output" 'nvm 1'
    inside mypy
    assert_equal "$output" pyenv
}

@test "D5: worker pools of python" {
    cat >pool.py <<'PYTHON'
import concurrent.futures as f, multiprocessing as m
def square(n):
    return n * n
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with f.ProcessPoolExecutor(4, mp_context=m.get_context(method)) as pool:
            print(method, sum(pool.map(square, range(100))))
PYTHON
    inside /usr/bin/python3 pool.py
    assert_status 0
    assert_equal "$output" $'fork 328350\nspawn 328350\nforkserver 328350'
}

@test "D5: worker processes and threads of node" {
    cat >pool.js <<'JS'
const { Worker, isMainThread, parentPort } = require("worker_threads");
const { fork } = require("child_process");
if (process.argv[2] === "child") { process.send("child"); process.disconnect(); }
else if (!isMainThread) parentPort.postMessage("worker");
else {
  let left = 8;
  const seen = (m) => { if (--left === 0) console.log("all"); };
  for (let i = 0; i < 4; i++) new Worker(__filename).on("message", seen);
  for (let i = 0; i < 4; i++) fork(__filename, ["child"]).on("message", seen);
}
JS
    inside node pool.js
    assert_status 0
    assert_equal "$output" all
}

@test "D5: make -j inside, and inside make's job server" {
    printf 'all: a b c d\na b c d:\n\t@sleep 0.1; echo $@ >$@\n' >Makefile
    inside make -s -j4
    assert_status 0
    [[ -e a && -e d ]]
    rm a b c d
    printf 'all:\n\t+@%s run make -s -f Makefile\n' "$SBOX" >Outer
    run bare make -s -j4 -f Outer
    assert_status 0
    refute_output_has 'jobserver unavailable'
    [[ -e a && -e d ]]
}

@test "D7: names, time zone and certificates through links into /run or /usr" {
    inside sh -c 'cat /etc/os-release >/dev/null && date +%Z && cat /etc/resolv.conf >/dev/null; getent passwd root; getent hosts localhost'
    assert_status 0
    assert_output_has 'root:'
    assert_output_has localhost
    inside /usr/bin/python3 -c 'import ssl; c = ssl.create_default_context(); print(len(c.get_ca_certs()) > 0)'
    local outside
    outside=$(bare /usr/bin/python3 -c 'import ssl; c = ssl.create_default_context(); print(len(c.get_ca_certs()) > 0)')
    assert_equal "$output" "$outside"
    inside sh -c 'readlink -f /etc/localtime >/dev/null; date +%z'
    assert_equal "$output" "$(bare date +%z)"
}

@test "D10: HOME, USER and PATH unset; TERM dumb; no terminal" {
    run --separate-stderr env -i ASAN_OPTIONS=detect_leaks=0 PATH=/usr/bin:/bin "$SBOX" run sh -c 'echo works'
    if [[ $status -eq 0 ]]; then
        assert_equal "$output" works
    else
        assert_status 125
        assert_stderr_has HOME
    fi
    run --separate-stderr env -i ASAN_OPTIONS=detect_leaks=0 HOME="$HOME" "$SBOX" run /bin/sh -c 'echo works'
    assert_status 0
    assert_equal "$output" works
    run --separate-stderr setsid -w env -i ASAN_OPTIONS=detect_leaks=0 HOME="$HOME" TERM=dumb \
        PATH=/usr/bin:/bin "$SBOX" run sh -c 'echo works' </dev/null
    assert_status 0
    assert_equal "$output" works
}

@test "D10: a uid that passwd does not know" {
    cat >"$T/strange" <<SCRIPT
exec '$SBOX' run sh -c 'id -u; touch "$P/made"'
SCRIPT
    # within a user namespace the ordinary user may be any uid
    run --separate-stderr bare unshare --user --map-user=54321 --map-group=54321 sh "$T/strange"
    assert_status 0
    assert_equal "$output" 54321
    [[ -e made ]]
}

works_in()
{
    mkdir -p "$1"
    cp "$PROBE" "$1/"
    cd "$1"
    printf 'K=sbox-test-canary\n' >.env
    git init -q .
    inside sh -c 'pwd; cat .env; echo made >made'
    assert_status 0
    assert_equal "$output" "$1"
    assert_equal "$(cat made)" made
}

@test "D11: a project with spaces in its path" {
    works_in "$HOME/my own project"
}

@test "D11: a project with a colon, a comma, a backslash in its path" {
    works_in "$HOME/a:b,c=d\\e"
}

@test "D11: a project with a newline in its path" {
    works_in "$HOME"/$'new\nline'
}

@test "D11: a project whose path is not UTF-8" {
    works_in "$HOME"/$'bytes\xff\xfe'
}

@test "D11: a project with a leading dash" {
    works_in "$HOME/-rf"
}

@test "D11: odd names below the project" {
    local name
    for name in 'a b' $'new\nline' $'\xff\xfe' '-rf' 'a:b,c=d\e' '%s%n' $'\e[31m'; do
        mkdir -p -- "$name/sub"
        printf 'K=sbox-test-canary\n' >"$name/sub/.env"
    done
    inside sh -c 'cat */sub/.env; ls | wc -l'
    assert_status 0
    refute_output_has canary
    assert_equal "$output" "$(ls | wc -l)"
}

@test "D11: a command with 100,000 bytes of arguments" {
    local many=()
    local n
    for ((n = 0; n < 20000; n++)); do many+=("a$n"); done
    inside sh -c 'echo $#' - "${many[@]}"
    assert_status 0
    assert_equal "$output" 20000
}

@test "D12: runs in a row leave nothing in /tmp, no mount, no process" {
    local before n
    before=$(find /tmp /var/tmp -maxdepth 1 -user "$(id -un)" ! -name 'bats-run*' 2>/dev/null | sort)
    for ((n = 0; n < 50; n++)); do sbox run true; done
    assert_equal "$(find /tmp /var/tmp -maxdepth 1 -user "$(id -un)" ! -name 'bats-run*' 2>/dev/null | sort)" "$before"
    run grep -c "$T" /proc/self/mountinfo
    assert_equal "$output" 0
    assert_no_process "$SBOX run true"
}
