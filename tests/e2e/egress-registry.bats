# cases/egress E12 with clients that only the package registry has: undici and axios, and npm itself,
# reach the registry that the client is configured with, and no other host.
# ctest-labels: registry
# ctest-timeout: 900
load ../helpers/common

setup_file()
{
    export CLIENTS_DIR
    CLIENTS_DIR=$(mktemp -d "$HOME/sbox-registry.XXXXXX")
    mkdir -p "$CLIENTS_DIR/home/clients"
    cd "$CLIENTS_DIR/home/clients"
    echo '{"name":"clients","private":true}' >package.json
    HOME=$CLIENTS_DIR/home
    npm install --silent --no-audit --no-fund --ignore-scripts undici@6.21.3 axios@1.7.9
    sbox lock
}

teardown_file()
{
    rm -rf "$CLIENTS_DIR"
}

setup()
{
    HOME=$CLIENTS_DIR/home
    cd "$HOME/clients" || return 1
    cp "$HELPERS/egress/direct" direct
    REGISTRY=$(npm config get registry)
    REGISTRY=${REGISTRY%/}
    REGISTRY_HOST=${REGISTRY#*//}
    REGISTRY_HOST=${REGISTRY_HOST%%/*}
    OPTIONS=(-e "NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-}" -e "URL=$REGISTRY/left-pad")
}

teardown()
{
    cd / || return 1
}

# everyway SCRIPT: prints the package's name when the registry is allowed, and fails when it is not
everyway()
{
    local way
    for way in --proxy-env ./direct ''; do
        # shellcheck disable=SC2086
        inside -o "$REGISTRY_HOST" "${OPTIONS[@]}" $way node -e "$1"
        assert_status 0
        assert_equal "$output" left-pad
        # shellcheck disable=SC2086
        inside -o somewhere-else.example "${OPTIONS[@]}" $way node -e "$1"
        [[ $status -ne 0 ]]
        assert_stderr_has "refused: ${REGISTRY_HOST%%:*}"
    done
}

@test "E12: undici" {
    everyway 'require("undici").request(process.env.URL).then(r => r.body.json()).then(p => console.log(p.name))'
}

# axios wants a proxy to speak TLS for it (GET https://… in the clear): no proxy that keeps out of TLS can.
# Therefore the variables are not set unless --proxy-env asks for them.
@test "E12: axios; with the proxy variables a line says what helps" {
    local script='require("axios").get(process.env.URL).then(r => console.log(r.data.name))' way
    for way in ./direct ''; do
        # shellcheck disable=SC2086
        inside -o "$REGISTRY_HOST" "${OPTIONS[@]}" $way node -e "$script"
        assert_status 0
        assert_equal "$output" left-pad
        assert_equal "$stderr" ''
    done
    inside -o "$REGISTRY_HOST" "${OPTIONS[@]}" --proxy-env node -e "$script"
    if [[ $status -ne 0 ]]; then assert_stderr_has 'without --proxy-env'; fi
    inside -o somewhere-else.example "${OPTIONS[@]}" node -e "$script"
    [[ $status -ne 0 ]]
}

@test "E12: node's own fetch, to a server of the real world" {
    everyway 'fetch(process.env.URL).then(r => r.json()).then(p => console.log(p.name))'
}

@test "E12: npm view, by the shortcut and by host, through the variables and without them" {
    local way
    for way in --proxy-env ./direct ''; do
        # shellcheck disable=SC2086
        inside -o @npm $way npm view left-pad name
        assert_status 0
        assert_equal "$output" left-pad
        # shellcheck disable=SC2086
        inside -o somewhere-else.example $way npm view --fetch-retries=0 left-pad name
        [[ $status -ne 0 ]]
        assert_stderr_has "refused: ${REGISTRY_HOST%%:*}"
    done
}

# axios with nock and undici's mocks never open a connection: the variables must not come in their way
@test "E20: undici's mock answers inside a networked run, with the variables and without" {
    local option
    for option in '' --proxy-env; do
        # shellcheck disable=SC2086
        inside -o "$REGISTRY_HOST" $option node -e '
            const { MockAgent, setGlobalDispatcher, request } = require("undici")
            const agent = new MockAgent(); agent.disableNetConnect(); setGlobalDispatcher(agent)
            agent.get("http://mocked.example").intercept({ path: "/" }).reply(200, "from the mock")
            request("http://mocked.example/").then(r => r.body.text()).then(console.log)'
        assert_status 0
        assert_equal "$output" 'from the mock'
        assert_equal "$stderr" ''
    done
}
