# Caches of package managers: an install run keeps them for its own project, an ordinary run reads
# them and leaves nothing behind. C37.
load ../helpers/common
load ../helpers/install
load ../helpers/trees

setup()
{
    setup_install
}

teardown()
{
    clean_project
}

# A second project of the same user, as current directory.
other_project()
{
    mkdir -p "$HOME/other"
    cd "$HOME/other" || return 1
    printf '{"name":"other","version":"1.0.0"}\n' >package.json
}

@test "C37: what an ordinary run writes into caches is seen by nobody" {
    mkdir -p "$HOME/.cargo/registry/src" "$HOME/go/pkg/mod"
    local places='.npm/_npx .cache/pip/wheels .cargo/registry/src go/pkg/mod .cache/go-build'
    inside --install sh -c "cd; for p in $places; do mkdir -p \$p; echo kept >\$p/kept; done"
    assert_status 0
    inside sh -c "cd; for p in $places; do mkdir -p \$p; echo evil >\$p/evil; echo evil >\$p/kept; done"
    assert_status 0
    inside sh -c "cd; for p in $places; do cat \$p/*; done"
    assert_status 0
    assert_equal "$output" $'kept\nkept\nkept\nkept\nkept'
    if grep -rq evil "$HOME"; then fail "left on the host"; fi
    other_project
    inside sh -c "cd; for p in $places; do ls \$p/evil \$p/kept; done 2>/dev/null; true"
    assert_equal "$output" ""
    inside --install sh -c "cd; for p in $places; do ls \$p/evil \$p/kept; done 2>/dev/null; true"
    assert_equal "$output" ""
}

@test "the host's verified caches are read, never written; its others are not there" {
    mkdir -p "$HOME/.cargo/registry/cache" "$HOME/go/pkg/mod/m" "$HOME/.npm/_cacache"
    echo crate >"$HOME/.cargo/registry/cache/x.crate"
    echo module >"$HOME/go/pkg/mod/m/go.mod"
    echo secret >"$HOME/.npm/_cacache/x"
    inside sh -c 'cd; cat .cargo/registry/cache/x.crate go/pkg/mod/m/go.mod; cat .npm/_cacache/x; echo x >go/pkg/mod/m/go.mod'
    assert_equal "$output" $'crate\nmodule'
    inside --install sh -c 'cd; cat .cargo/registry/cache/x.crate; echo mine >go/pkg/mod/m/go.mod; rm .cargo/registry/cache/x.crate; cat .npm/_cacache/x'
    assert_equal "$output" crate
    assert_equal "$(cat "$HOME/go/pkg/mod/m/go.mod")" module
    [[ -e $HOME/.cargo/registry/cache/x.crate ]]
    inside sh -c 'cd; cat go/pkg/mod/m/go.mod; ls .cargo/registry/cache'
    assert_equal "$output" mine
}

@test "npm ci --offline finds what an earlier install run fetched" {
    pack dep 1.0.0
    inside --install npm cache add ./dep-1.0.0.tgz
    assert_status 0
    local sum
    sum=$(openssl dgst -sha512 -binary dep-1.0.0.tgz | base64 -w0)
    rm dep-1.0.0.tgz
    printf '{"name":"p","version":"1.0.0","dependencies":{"dep":"1.0.0"}}\n' >package.json
    printf '{"name":"p","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"p","version":"1.0.0","dependencies":{"dep":"1.0.0"}},"node_modules/dep":{"version":"1.0.0","resolved":"https://registry.example.test/dep/-/dep-1.0.0.tgz","integrity":"sha512-%s"}}}\n' \
        "$sum" >package-lock.json
    run --separate-stderr sbox npm ci --offline
    assert_status 0
    installed dep 1.0.0
    rm -rf node_modules
    # an ordinary run reads the same cache
    inside --no-install npm ci --offline
    assert_status 0
    installed dep 1.0.0
    # and another project has another
    mkdir -p "$HOME/other"
    cp package.json package-lock.json "$HOME/other/"
    cd "$HOME/other"
    run --separate-stderr sbox npm ci --offline
    [[ $status -ne 0 && ! -e node_modules/dep ]]
}

@test "private caches are 0700, honour XDG_CACHE_HOME, and rm -r removes them" {
    ENV+=(XDG_CACHE_HOME="$T/xdg")
    mkdir -p "$T/xdg/node-gyp/20"
    touch "$T/xdg/node-gyp/20/header"
    # shellcheck disable=SC2016
    inside --install sh -c 'ls ~/.cache/node-gyp; echo "$XDG_CACHE_HOME"; rm ~/.cache/node-gyp/20/header; touch ~/.npm/x "$XDG_CACHE_HOME/pip/x"'
    assert_equal "$output" $'20\n'"$HOME/.cache"
    [[ ! -e $HOME/.cache/sbox ]]
    assert_equal "$(stat -c %a "$T/xdg/sbox" "$T"/xdg/sbox/*)" $'700\n700'
    [[ -e $(echo "$T"/xdg/sbox/*/home/.npm/u/x) && -e $(echo "$T"/xdg/sbox/*/home/.cache/pip/u/x) ]]
    rm -r "$T/xdg/sbox"
}

@test "a cache directory in the workspace, or one that others can write, is refused" {
    ENV+=(XDG_CACHE_HOME="$P/.cache")
    inside --install true
    assert_status 125
    assert_stderr_has 'lies in the workspace'
    inside true
    assert_status 0
    [[ ! -e .cache ]]
    ENV+=(XDG_CACHE_HOME="$T/open")
    mkdir -p "$T/open/sbox"
    chmod 777 "$T/open/sbox"
    inside --install true
    assert_status 125
    assert_stderr_has 'chmod 700'
}

@test "no option shows the caches of other projects" {
    inside --install sh -c 'echo canary >~/.npm/x'
    other_project
    inside --rw "$HOME/.cache/sbox" true
    assert_status 125
    assert_stderr_has 'never exposed'
    inside --rw "$HOME/.cache" sh -c 'cat ~/.cache/sbox/*/home/.npm/u/x; ls ~/.cache/sbox'
    refute_output_has canary
    assert_stderr_has 'Permission denied'
}

@test "pnpm, poetry and uv are told to keep to what a run has; a setting of the user's stands" {
    mkdir "$T/bin"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "$npm_config_store_dir,$POETRY_VIRTUALENVS_IN_PROJECT,$UV_LINK_MODE"\n' |
        tee "$T/bin/pnpm" "$T/bin/uv" >"$T/bin/poetry"
    chmod 755 "$T"/bin/*
    inside --ro "$T/bin" "$T/bin/pnpm" install
    assert_equal "$output" "$HOME/.cache/pnpm/store,,"
    inside --ro "$T/bin" "$T/bin/poetry" install
    assert_equal "$output" ',true,'
    inside --ro "$T/bin" "$T/bin/uv" sync
    assert_equal "$output" ',,copy'
    inside --ro "$T/bin" "$T/bin/uv" run x
    assert_equal "$output" ',,'
    ENV+=(UV_LINK_MODE=clone)
    inside --ro "$T/bin" "$T/bin/uv" sync
    assert_equal "$output" ',,clone'
}

# ramfs has no user.* attributes, so it can hold no upper layer.
@test "C36: where caches can have no layers the private ones work alone, and sbox says so" {
    mkdir -p "$HOME/.cargo/registry" "$HOME/.cache"
    echo host >"$HOME/.cargo/registry/x"
    # shellcheck disable=SC2016
    run in_namespace 'mount -t ramfs none "$HOME/.cache"; cd "$2"
        "$1" run --install sh -c "cat ~/.cargo/registry/x; echo kept >~/.cargo/registry/y"
        "$1" run sh -c "cat ~/.cargo/registry/y ~/.cargo/registry/x"' "$SBOX" "$P"
    [[ $output == *"the host's own caches were not used"* ]]
    [[ $output == *$'kept\nhost'* ]]
    [[ ! -e $HOME/.cargo/registry/y ]]
}
