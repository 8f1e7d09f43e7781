# The scene of the attack table: everything that the rows of probe.c try to reach is put in place,
# so that a refusal inside means something. Loaded after common.bash.
#
#     plant_targets     files, a repository with a nested one and a submodule, services of the host
#     attack CMD…       CMD with a caller's environment and descriptors full of secrets
#     compare_tables    EXPECTED SEEN
CANARY=sbox-test-canary

plant_file()
{
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "${2:-$CANARY}" >"$1"
}

plant_home()
{
    local file
    for file in .ssh/id_ed25519 .aws/credentials .mozilla/firefox/x.default/logins.json \
        .config/google-chrome/Default/Cookies .config/gcloud/credentials.db .config/gh/hosts.yml \
        .kube/config .docker/config.json .gnupg/secring.gpg .netrc .pypirc .git-credentials \
        .bash_history Documents/letter.txt .local/share/keyrings/login.keyring \
        .local/share/uv/credentials/x.toml .cargo/credentials.toml .local/share/sbox/canary \
        project-tools/secret.txt .bashrc .profile .zshrc; do
        plant_file "$HOME/$file"
    done
    plant_file "$HOME/.npmrc" "//registry.example.test/:_authToken=$CANARY"
    mkdir -p "$HOME/.cargo/bin" "$HOME/.local/bin" "$HOME/.local/state" "$HOME/.cache"
    printf '#!/bin/sh\n' >"$HOME/.cargo/bin/tool"
    chmod 755 "$HOME/.cargo/bin/tool"
    chmod 700 "$HOME/.local/share/sbox" "$HOME/.gnupg"
}

plant_workspace()
{
    local file
    for file in .env .env.local .env.production .ENV .env~ .env.swp .envrc packages/a/.env \
        .env.d/secret linked/target.txt; do
        plant_file "$P/$file" "API_KEY=$CANARY"
    done
    ln -s target.txt "$P/linked/.env"
    printf '%s\n' '.env*' '.ENV' probe 'probe.*' '*.sock' linked >"$P/.gitignore"
}

plant_repository()
{
    local sub=$T/outside/sub
    setup_git
    git init -q "$P/vendored"
    git init -q "$sub"
    git -C "$sub" commit -q --allow-empty -m sub
    git -C "$P" -c protocol.file.allow=always submodule --quiet add "$sub" sub
    git -C "$P" commit -q -m sub
    plant_file "$P/.git/hooks/pre-commit" '#!/bin/sh'
    plant_file "$P/.git/info/attributes" '# none'
}

plant_targets()
{
    SCRATCH=$(mktemp -d /tmp/sbox-probe.XXXXXX)
    VAR_SCRATCH=$(mktemp /var/tmp/sbox-probe.XXXXXX)
    printf '%s\n' "$CANARY" | tee "$SCRATCH/secret" "$VAR_SCRATCH" >/dev/null
    plant_file "$T/outside/secret.txt"
    plant_home
    plant_workspace
    plant_repository
    cat >"$P/probe.conf" <<CONF
outside=$T/outside
workspace=$P
tmp_file=$SCRATCH/secret
var_tmp_file=$VAR_SCRATCH
CONF
    in_host "$PROBE" serve "$SCRATCH"
    wait_for 10 grep -q ready "$P/probe.conf"
}

# The services take their own objects away on SIGTERM; clean_project's SIGKILL would leave them.
remove_targets()
{
    local pid
    for pid in "${HOST_PIDS[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${HOST_PIDS[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "${SCRATCH:-/nonexistent}" "${VAR_SCRATCH:-/nonexistent}"
    clean_project
}

attack()
{
    ENV+=(AWS_SECRET_ACCESS_KEY="$CANARY" NPM_TOKEN="$CANARY" DATABASE_URL="postgres://u:$CANARY@db/x"
        SSH_AUTH_SOCK="$HOME/agent.sock" DBUS_SESSION_BUS_ADDRESS="unix:path=$HOME/agent.sock"
        SETTINGS="{\"password\":\"$CANARY\"}")
    bare "$@" 9<"$HOME"
}

# Lines that differ, both ways: what is wrong, not the whole of the tables.
compare_tables()
{
    local wrong
    if [[ -n ${SBOX_BLESS:-} ]]; then cp "$2" "$SBOX_BLESS/$(basename "$1")"; fi
    wrong=$(diff <(grep -v '^#' "$1" | cut -f 1,2) "$2" | grep '^[<>]' || true)
    if [[ -n $wrong ]]; then
        fail "rows that differ from $(basename "$1") (< expected, > seen):" "$wrong"
    fi
}

# Everything below $HOME with its content, but for the probe's own notes.
state_of_home()
{
    (cd "$HOME" && find . -path './project/probe*' -o -name 'probe.contacts' -o -path './.local/share/sbox/*' \
        -o -type f -exec sha256sum {} + -o -printf '%p %y %m %l\n' | LC_ALL=C sort)
}
