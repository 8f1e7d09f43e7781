# cases/secrets S9 and S15: files that configure package clients stay in force, with their secrets
# out. The clients are real ones; their tokens are made up.
load ../helpers/common
load ../helpers/attack

TOKEN=tok-$CANARY

# Everywhere a command could look.
refute_token_in()
{
    local file
    for file in "$@"; do
        inside sh -c 'cat "$1"; dd if="$1" bs=1M; cp "$1" /tmp/x && cat /tmp/x' - "$file"
        refute_output_has "$CANARY"
    done
}

@test "S9: the project's .npmrc: the registry in force, the token absent" {
    printf '{"name":"p","version":"1.0.0"}' >package.json
    printf '%s\n' 'registry=https://npm.corp.example/' 'fund=false' \
        "//npm.corp.example/:_authToken=$TOKEN" '@a:registry=https://a.corp.example/' >.npmrc
    run --separate-stderr bare npm config get //npm.corp.example/:_authToken
    [[ $status -ne 0 || $output == *"$CANARY"* || $stderr == *protected* ]]
    inside npm config get registry
    assert_status 0
    assert_equal "$output" https://npm.corp.example/
    inside npm config get @a:registry
    assert_equal "$output" https://a.corp.example/
    inside sh -c 'cat .npmrc'
    assert_output_has fund=false
    refute_token_in .npmrc "$P/.npmrc"
    inside --unmask .npmrc cat .npmrc
    assert_output_has "$CANARY"
    inside --allow-env cat .npmrc
    assert_output_has "$CANARY"
}

@test "S9: at any depth, through links, and not in a dependency tree" {
    mkdir -p packages/a/b real node_modules/x
    printf 'x=1\n_auth=%s\n' "$TOKEN" >packages/a/b/.npmrc
    printf 'x=1\n_auth=%s\n' "$TOKEN" >real/npmrc
    ln -s real/npmrc .npmrc
    printf '{"name":"x","version":"1.0.0"}' >node_modules/x/package.json
    printf 'x=1\n' >node_modules/x/.npmrc
    run sbox lock
    refute_token_in packages/a/b/.npmrc .npmrc real/npmrc
    inside cat packages/a/b/.npmrc real/npmrc .npmrc node_modules/x/.npmrc
    assert_status 0
    assert_equal "$(grep -c x=1 <<<"$output")" 4
}

@test "S9: a file that holds no secret is not touched: it can be changed" {
    printf 'registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=${NPM_TOKEN}\n' >.npmrc
    inside sh -c 'echo fund=false >>.npmrc && mv .npmrc .npmrc.new && mv .npmrc.new .npmrc'
    assert_status 0
    assert_equal "$(tail -n 1 .npmrc)" fund=false
}

@test "S9: a filtered file can be neither changed nor replaced" {
    printf 'x=1\n_auth=%s\n' "$TOKEN" >.npmrc
    cp .npmrc "$T/before"
    inside sh -c 'echo y=1 >>.npmrc; rm -f .npmrc; mv .npmrc z; cp /dev/null .npmrc; chmod 777 .npmrc
        cat .npmrc'
    refute_output_has "$CANARY"
    cmp .npmrc "$T/before"
}

@test "S9: a filtered file that git tracks is told" {
    printf 'x=1\n_auth=%s\n' "$TOKEN" >.npmrc
    setup_git
    inside true
    assert_stderr_has ".npmrc' is shown without its secrets and git tracks it"
}

@test "S9: yarn's, pip's and cargo's files in the project" {
    mkdir .cargo
    printf 'npmRegistryServer: "https://npm.corp.example"\nnpmAuthToken: %s\n' "$TOKEN" >.yarnrc.yml
    printf 'registry "https://npm.corp.example"\n"//npm.corp.example/:_authToken" %s\n' "$TOKEN" >.yarnrc
    printf '[global]\nindex-url = https://u:%s@pip.corp.example/simple\n' "$TOKEN" >pip.conf
    printf '[registries.a]\nindex = "sparse+https://c.corp.example/"\ntoken = "%s"\n' "$TOKEN" \
        >.cargo/config.toml
    printf '[registry]\ntoken = "%s"\n' "$TOKEN" >.cargo/credentials.toml
    printf 'machine h.example login u password %s\n' "$TOKEN" >.netrc
    printf '[pypi]\nusername = u\npassword = %s\n' "$TOKEN" >.pypirc
    printf '{"github-oauth": {"github.example": "%s"}}' "$TOKEN" >auth.json
    refute_token_in .yarnrc.yml .yarnrc pip.conf .cargo/config.toml .cargo/credentials.toml .netrc \
        .pypirc auth.json
    inside cat .yarnrc.yml .yarnrc .cargo/config.toml
    assert_output_has 'npmRegistryServer: "https://npm.corp.example"'
    assert_output_has 'registry "https://npm.corp.example"'
    assert_output_has 'index = "sparse+https://c.corp.example/"'
    inside env PIP_CONFIG_FILE="$P/pip.conf" pip config list
    assert_status 0
    assert_output_has "https://pip.corp.example/simple"
}

@test "S9: a token in the URL of a git remote" {
    setup_git
    git remote add origin "https://u:$TOKEN@git.corp.example/r.git"
    git config "http.https://git.corp.example/.extraheader" "AUTHORIZATION: basic $TOKEN"
    inside git config -l
    assert_status 0
    assert_output_has remote.origin.url=https://git.corp.example/r.git
    refute_output_has "$CANARY"
    refute_token_in .git/config
    inside git remote -v
    assert_output_has git.corp.example
    echo new >file
    inside sh -c 'git add file && git commit -qm inside && git status --short && git log --oneline'
    assert_status 0
    assert_output_has inside
    inside sh -c 'printf "[core]\n\tsshCommand = touch /tmp/x\n" >>.git/config; mv .git/config .git/c; git config a.b c'
    run git config -l
    [[ $output == *"$CANARY"* && $output != *sshCommand* && $output != *a.b* ]]
}

@test "S9: the files of \$HOME: in force, without secrets" {
    printf '%s\n' 'registry=https://npm.corp.example/' "//npm.corp.example/:_authToken=$TOKEN" >"$HOME/.npmrc"
    mkdir -p "$HOME/.config/pip" "$HOME/.cargo"
    printf '[global]\nindex-url = https://u:%s@pip.corp.example/simple\ntimeout = 7\n' "$TOKEN" \
        >"$HOME/.config/pip/pip.conf"
    printf 'token = "%s"\n[net]\nretry = 5\n' "$TOKEN" >"$HOME/.cargo/config.toml"
    printf 'machine h.example login u password %s\n' "$TOKEN" >"$HOME/.netrc"
    inside npm config get registry
    assert_equal "$output" https://npm.corp.example/
    inside pip config list
    assert_status 0
    assert_output_has "global.index-url='https://pip.corp.example/simple'"
    assert_output_has "global.timeout='7'"
    inside cat "$HOME/.cargo/config.toml"
    assert_output_has 'retry = 5'
    inside sh -c 'cat ~/.npmrc ~/.config/pip/pip.conf ~/.cargo/config.toml ~/.netrc; ls -a ~'
    refute_output_has "$CANARY"
    refute_output_has .netrc
}

@test "S9: what is not understood is hidden whole, and -v says so" {
    printf 'a: {\n  npmAuthToken: %s }\n' "$TOKEN" >.yarnrc.yml
    run --separate-stderr sbox run -v cat .yarnrc.yml
    assert_equal "$output" ""
    assert_stderr_has .yarnrc.yml
    run sbox run --dry-run true
    assert_output_has '.yarnrc.yml'
    assert_output_has 'not understood'
}

@test "S9: a filtered file that the host saves anew is hidden again" {
    printf 'x=1\n_auth=%s\n' "$TOKEN" >.npmrc
    printf 'x=2\n_auth=%s\n' "$TOKEN" >"$T/new"
    in_host sh -c "while [ ! -e '$P/ready' ]; do sleep 0.01; done; cp '$T/new' '$P/.n'; mv '$P/.n' '$P/.npmrc'; touch '$P/done'"
    inside sh -c 'cat .npmrc; touch ready; while [ ! -e done ]; do sleep 0.01; done; sleep 0.2; cat .npmrc'
    assert_status 0
    refute_output_has "$CANARY"
    assert_output_has x=1
    assert_stderr_has "hidden again"
}

@test "S15: what a settings file refers to and was withheld is there, and empty" {
    printf 'npmRegistryServer: "https://npm.corp.example"\nnpmAuthToken: "${NPM_TOKEN}"\n' >.yarnrc.yml
    printf '//npm.corp.example/:_authToken=${NODE_AUTH_TOKEN}\n' >"$HOME/.npmrc"
    ENV=(NPM_TOKEN="$TOKEN" NODE_AUTH_TOKEN="$TOKEN" OTHER_TOKEN="$TOKEN")
    inside sh -c 'echo "[${NPM_TOKEN-unset}] [${NODE_AUTH_TOKEN-unset}] [${OTHER_TOKEN-unset}]"'
    assert_equal "$output" "[] [] [unset]"
    ENV=()
    inside sh -c 'echo "[${NPM_TOKEN-unset}]"'
    assert_equal "$output" "[unset]"
    ENV=(NPM_TOKEN="$TOKEN")
    inside -e NPM_TOKEN sh -c 'echo "[${NPM_TOKEN-unset}]"'
    assert_equal "$output" "[$TOKEN]"
}

@test "S9: a registry in the environment stays in force without its login" {
    ENV=(npm_config_registry="https://u:$TOKEN@npm.corp.example/"
        PIP_INDEX_URL="https://u:$TOKEN@pip.corp.example/simple")
    inside npm config get registry
    assert_equal "$output" https://npm.corp.example/
    inside pip config list
    assert_output_has https://pip.corp.example/simple
    inside env
    refute_output_has "$CANARY"
}

@test "@npm, @pip and @git: what settings and lockfiles name, and why" {
    printf 'registry=https://u:%s@npm.corp.example/\n' "$TOKEN" >"$HOME/.npmrc"
    printf '{"packages":{"a":{"resolved":"https://files.corp.example:8443/a.tgz"}}}' >package-lock.json
    printf -- '--index-url https://pip.corp.example/simple\n' >requirements.txt
    setup_git
    git remote add origin git@git.corp.example:o/r.git
    run --separate-stderr sbox run --dry-run -o @npm,@pip -o @git,other.example true
    assert_status 0
    local host
    for host in npm.corp.example:443 files.corp.example:8443 pip.corp.example:443 \
        git.corp.example:22 other.example; do
        grep -q "^host  *$host" <<<"$output" || fail "no $host" "$output"
    done
    assert_output_has "by package-lock.json"
    assert_output_has "by $HOME/.npmrc"
    refute_output_has "$CANARY"
    assert_stderr_has "@npm allows files.corp.example:8443, which only a file of the workspace names"
    assert_stderr_has "@git allows git.corp.example:22, which only a file of the workspace names"
    [[ $stderr != *npm.corp.example* ]]
}

@test "@git: a repository that a command made is said, and opens no private address" {
    inside sh -c 'mkdir -p .git/objects .git/refs; echo "ref: refs/heads/main" >.git/HEAD
        printf "[remote \"a\"]\n\turl = https://evil.example/\n[remote \"b\"]\n\turl = http://169.254.169.254/\n" >.git/config'
    assert_status 0
    run --separate-stderr sbox run --dry-run -o @git true
    assert_stderr_has "@git allows evil.example:443, which only a file of the workspace names"
    refute_output_has 169.254
}

@test "@npm in an empty project: npm is asked, in a sandbox" {
    run --separate-stderr sbox run --dry-run -o @npm true
    assert_status 0
    assert_output_has "by what npm itself says"
    grep -qE '^host +[a-z0-9.-]+:[0-9]+$' <<<"$output"
    assert_equal "$stderr" ""
    assert_equal "$(ls -A "$HOME/.cache/sbox" 2>/dev/null)" ""
}

@test "@pip in an empty project: pip is asked, in a sandbox" {
    run --separate-stderr sbox run --dry-run -o @pip true
    assert_status 0
    assert_output_has "by what pip itself says"
}

@test "a planted client answers from a sandbox: it sees nothing and reaches nothing" {
    mkdir bin
    printf '#!/bin/sh\n{ ls "%s"; cat ~/.ssh/id; } >"%s/leak" 2>&1\ncat "%s/secret"\necho https://evil.example/\n' \
        "$P" "$P" "$P" >bin/npm
    chmod +x bin/npm
    printf 'https://%s.example/' "$CANARY" >secret
    ENV=(PATH="$P/bin:/usr/bin:/bin")
    run --separate-stderr bare "$SBOX" run --dry-run -o @npm true
    refute_output_has "$CANARY"
    [[ ! -e leak ]]
}

@test "a shortcut that nothing stands behind is refused with a line" {
    ENV=(PATH=/nowhere)
    run --separate-stderr bare "$SBOX" run -o @npm true
    assert_status 125
    assert_stderr_has "@npm: nothing names a host"
    run --separate-stderr sbox run -o @nmp true
    assert_status 125
    assert_stderr_has "'@nmp' is no shortcut"
}

@test "S9: --ro shows a file of \$HOME whole" {
    printf '_auth=%s\n' "$TOKEN" >"$HOME/.npmrc"
    inside --allow-env cat "$HOME/.npmrc"
    refute_output_has "$CANARY"
    inside --ro "$HOME/.npmrc" cat "$HOME/.npmrc"
    assert_output_has "$CANARY"
}
