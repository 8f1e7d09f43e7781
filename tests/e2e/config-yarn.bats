# ctest-labels: registry
# ctest-timeout: 600
#
# cases/secrets S9 and S15 with yarn and pnpm, which come from whatever registry the client is
# configured with. The hosts in their settings are made up, and nothing of them is asked.
load ../helpers/common

CANARY=canary-c4d1

setup_file()
{
    export CLIENTS
    CLIENTS=$(mktemp -d "$HOME/sbox-clients.XXXXXX")
    cd "$CLIENTS" || return 1
    npm install --no-audit --no-fund --ignore-scripts @yarnpkg/cli-dist@4 yarn@1 pnpm@9
}

teardown_file()
{
    rm -rf "$CLIENTS"
}

# A client inside, its program exposed. No network.
client()
{
    run --separate-stderr sbox run --ro "$CLIENTS/node_modules" -- node "$CLIENTS/node_modules/$1" "${@:2}"
}

yarn4=@yarnpkg/cli-dist/bin/yarn.js
project()
{
    printf '{"name":"p","version":"1.0.0"}' >package.json
    printf 'npmRegistryServer: "https://npm.corp.example"\nnpmAuthToken: "%s"\n' "$1" >.yarnrc.yml
}

@test "S9: yarn 4: the registry in force, the token absent" {
    project "$CANARY"
    client "$yarn4" config get npmRegistryServer
    assert_status 0
    assert_equal "$output" https://npm.corp.example
    client "$yarn4" config --json
    refute_output_has "$CANARY"
}

@test "S15: yarn 4 fails at a variable that is not there; inside, one that was withheld is empty" {
    project '${NPM_TOKEN}'
    run bare node "$CLIENTS/node_modules/$yarn4" config get npmRegistryServer
    [[ $status -ne 0 ]]
    ENV=(NPM_TOKEN="$CANARY")
    client "$yarn4" config get npmRegistryServer
    assert_status 0
    assert_equal "$output" https://npm.corp.example
}

@test "S9: yarn 1 and pnpm" {
    printf '{"name":"p","version":"1.0.0"}' >package.json
    printf 'registry "https://npm.corp.example"\n"//npm.corp.example/:_authToken" "%s"\n' "$CANARY" >.yarnrc
    client yarn/bin/yarn.js config get registry
    assert_output_has https://npm.corp.example
    client yarn/bin/yarn.js config list
    refute_output_has "$CANARY"
    printf 'registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=%s\n' "$CANARY" >.npmrc
    client pnpm/bin/pnpm.cjs config get registry
    assert_output_has https://npm.corp.example
    client pnpm/bin/pnpm.cjs config list
    refute_output_has "$CANARY"
}
