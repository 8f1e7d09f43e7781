# cases/everyday D4 and D9 with the tools themselves, from whatever registry npm is configured with. Every
# step is done in the sandbox, with the network flags that it needs outside; only pnpm and yarn are put
# below $HOME before. The tests of one project build on each other: its first one installs.
#
# ctest-labels: registry
# ctest-timeout: 900
load ../helpers/common

# Versions that run on Debian's Node.js 18 too.
SHOP=(better-sqlite3@11.10.0 eslint@9.17.0 typescript@5.7.3 vite@5.4.19 webpack@5.97.1 webpack-cli@6.0.1)

write_shop()
{
    mkdir -p "$1/src"
    cd "$1"
    echo '{"name":"shop","version":"1.0.0","private":true,"scripts":{"build":"vite build"}}' >package.json
    echo '<!doctype html><script type="module" src="/src/main.ts"></script>' >index.html
    echo 'const price = (n: number): number => n * 2; document.title = `price ${price(3)}`' >src/main.ts
    echo 'export const price = (n) => n * 2' >src/price.js
    echo 'import { price } from "./price.js"; console.log("price", price(4))' >src/entry.js
    echo '{"compilerOptions":{"strict":true,"noEmit":true,"target":"es2022","module":"esnext",
        "lib":["es2022","dom"],"types":[]},"include":["src/*.ts"]}' >tsconfig.json
    echo 'module.exports = { mode: "production", target: "node", entry: "./src/entry.js",
        cache: { type: "filesystem" }, output: { path: __dirname + "/out" } }' >webpack.config.cjs
    echo 'export default [{ files: ["src/*.js"], rules: { "no-unused-vars": "error" } }]' >eslint.config.mjs
}

setup_file()
{
    export EVERYDAY_DIR
    EVERYDAY_DIR=$(mktemp -d "$HOME/sbox-everyday.XXXXXX")
    mkdir -p "$EVERYDAY_DIR"/home/{empty,small,pnpm,yarn,python,site/pages}
    write_shop "$EVERYDAY_DIR/home/shop"
    echo '{"name":"small","version":"1.0.0","private":true}' >"$EVERYDAY_DIR/home/small/package.json"
    echo '{"name":"p","version":"1.0.0","private":true,"dependencies":{"is-odd":"3.0.1"},
        "scripts":{"odd":"node -p \"require('\''is-odd'\'')(3)\""}}' |
        tee "$EVERYDAY_DIR/home/pnpm/package.json" >"$EVERYDAY_DIR/home/yarn/package.json"
    npm install -g --silent --no-audit --no-fund --ignore-scripts --prefix "$EVERYDAY_DIR/home/.local" \
        --cache "$EVERYDAY_DIR/npm" pnpm@9.15.9 yarn@1.22.22
}

teardown_file()
{
    chmod -R u+rwX "$EVERYDAY_DIR"
    rm -rf "$EVERYDAY_DIR"
}

# How npm reaches its registry (run-bats hands it down), and no chatter. The headers of Node.js are
# there: node-gyp needs no download. An addon of a test need not be fast.
setup()
{
    HOME=$EVERYDAY_DIR/home
    T=$EVERYDAY_DIR
    mapfile -t ENV < <(env | grep -E '^(npm_config_|NODE_EXTRA_CA_CERTS=|SSL_CERT_FILE=)')
    ENV+=(npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
        npm_config_loglevel=error npm_config_nodedir=/usr npm_config_build_from_source=true
        CFLAGS=-O0 CXXFLAGS=-O0 MAKEFLAGS=-j2)
}

teardown()
{
    local pid
    for pid in "${HOST_PIDS[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
    cd / || return 1
}

# works CMD…: the command succeeds in the sandbox and sbox has nothing to say.
works()
{
    inside "$@"
    assert_status 0
    refute_stderr_has 'sbox: '
}

# installs CMD…: an install run that changes the trees; an ordinary run is refused until they are locked.
installs()
{
    inside "$@"
    assert_status 0
    assert_stderr_has 'accept: sbox lock'
    inside touch marker
    assert_status 120
    [[ ! -e marker ]]
    sbox lock
}

# restores CMD…: an install run after which the trees are the locked ones.
restores()
{
    inside "$@"
    assert_status 0
    assert_stderr_has 'sbox: the trees are what was locked'
}

# --- npm

@test "D9: an empty project: npm install express, refused until it is locked, then it serves" {
    cd "$HOME/empty"
    inside -o @npm npm install express@4.21.2
    assert_status 0
    assert_stderr_has 'accept: sbox lock'
    local serve='const s = require("express")().get("/", (q, r) => r.send("served")).listen(3000, () =>
        fetch("http://127.0.0.1:3000/").then(r => r.text()).then(console.log).then(() => process.exit()))'
    inside node -e "$serve"
    assert_status 120
    assert_stderr_has "'node_modules' was never locked"
    sbox lock
    works node -e "$serve"
    assert_equal "$output" served
}

# --- a project with a bundler, a compiler, and an addon that node-gyp compiles inside

@test "D9: npm install of real packages, refused until it is locked" {
    cd "$HOME/shop"
    installs -o @npm npm install "${SHOP[@]}"
    [[ ! -e $HOME/.npm ]] # npm's cache is not the host's
    run --separate-stderr sbox verify
    assert_status 0
}

@test "D9: better-sqlite3, built inside by node-gyp" {
    cd "$HOME/shop"
    local built=node_modules/better-sqlite3/build
    [[ -s $built/Release/better_sqlite3.node && -s $built/Makefile ]] # not a downloaded one
    works node -p 'new (require("better-sqlite3"))(":memory:").prepare("select 6 * 7 as x").get().x'
    assert_equal "$output" 42
}

@test "D9: npm run build: vite build" {
    cd "$HOME/shop"
    works npm run build
    grep -q '<script' dist/index.html
    grep -q price dist/assets/*.js
}

# What a browser would do: the page's WebSocket, and what the server pushes when a file is saved.
hot_reload_client()
{
    cat >"$T/client.py" <<'PYTHON'
import asyncio, json, re, sys, urllib.request, websockets
base = "127.0.0.1:" + sys.argv[1]
def get(path):
    return urllib.request.urlopen(f"http://{base}{path}").read().decode()
async def main():
    token = re.search(r'wsToken = "([^"]+)"', get("/@vite/client"))
    get("/src/main.ts")
    async with websockets.connect(f"ws://{base}/?token={token[1]}", subprotocols=["vite-hmr"]) as page:
        async for message in page:
            print(json.loads(message)["type"], flush=True)
            if "reload" in message: return
            source = open("src/main.ts").read()
            open("src/main.ts", "w").write(source.replace("price(3)", "price(5)"))
asyncio.run(main())
PYTHON
}

@test "D9: vite dev: a file that the host saves reloads the page, through -p" {
    cd "$HOME/shop"
    hot_reload_client
    in_host "$SBOX" run -p 15173:5173 npx vite
    wait_for 60 curl -sf http://127.0.0.1:15173/
    run --separate-stderr bare timeout 60 /usr/bin/python3 "$T/client.py" 15173
    assert_equal "$output" $'connected\nfull-reload'
    run --separate-stderr bare curl -s http://127.0.0.1:15173/src/main.ts
    assert_output_has 'price(5)'
    kill "${HOST_PIDS[-1]}"
    finish 30
    assert_equal "$(cat "$T/host.err")" ''
}

@test "D9: tsc accepts the sources and finds a mistake" {
    cd "$HOME/shop"
    works npx tsc
    assert_equal "$output" ''
    echo 'export const wrong: number = "text"' >src/wrong.ts
    inside npx tsc
    rm src/wrong.ts
    [[ $status -ne 0 && $status -lt 120 ]]
    assert_output_has 'src/wrong.ts(1,14): error TS2322'
}

# Caches in trees hold code: thrown away after each run, kept apart with --keep-cache.
@test "D9: webpack, whose cache lies in the tree" {
    cd "$HOME/shop"
    local n
    for n in 1 2; do
        works npx webpack
        assert_output_has 'compiled successfully'
        refute_output_has '[cached]'
    done
    works node out/main.js
    assert_equal "$output" 'price 8'
    works --keep-cache npx webpack
    refute_output_has '[cached]'
    works --keep-cache npx webpack
    assert_output_has '[cached]'
    [[ ! -e node_modules/.cache ]]
}

@test "D9: eslint --cache" {
    cd "$HOME/shop"
    works npx eslint --cache src
    grep -q entry.js .eslintcache
    works npx eslint --cache src
    echo 'const unused = 1' >src/unused.js
    inside npx eslint --cache src
    rm src/unused.js
    assert_status 1
    assert_output_has "'unused' is assigned a value but never used"
}

@test "D9: npx of a package that is not installed" {
    cd "$HOME/shop"
    works -o @npm npx --yes cowsay@1.6.0 moo
    assert_output_has '< moo >'
    inside npx --yes --offline cowsay@1.6.0 moo # what it unpacked was thrown away
    [[ $status -ne 0 && $status -lt 120 ]]
    refute_output_has moo
}

@test "D9: after all of that the tree is still the locked one" {
    cd "$HOME/shop"
    run --separate-stderr sbox verify
    assert_status 0
}

# --- npm's other verbs, and an install that broke off (product.md, Dependency trees)

@test "D9: npm ci, npm uninstall" {
    cd "$HOME/small"
    installs -o @npm npm install typescript@5.7.3 is-odd@3.0.1
    restores -o @npm npm ci
    restores npm ci --offline # from the project's own cache
    installs npm uninstall is-odd
    works node -p 'require("typescript").version'
    assert_equal "$output" 5.7.3
    inside node -e 'require("is-odd")'
    assert_status 1
}

@test "D9: npm killed in the middle: refused, npm ci repairs it" {
    cd "$HOME/small"
    inside --install timeout 120 sh -c 'npm ci --offline & npm=$!
        until [ ! -e node_modules/.package-lock.json ]; do :; done
        until [ -e node_modules/typescript/lib ]; do :; done
        kill -9 $npm; wait $npm'
    assert_status 137
    assert_stderr_has 'review: sbox '
    [[ ! -e node_modules/.package-lock.json ]] # npm writes it last
    inside node -p 'require("typescript").version'
    assert_status 120
    assert_stderr_has "'node_modules' is not what was locked"
    inside npm install --offline
    assert_status 120
    restores npm ci --offline
    works node -p 'require("typescript").version'
    assert_equal "$output" 5.7.3
}

# --- pnpm and yarn

@test "D9: pnpm: install, lock, run; add; remove" {
    ENV+=(PATH="$HOME/.local/bin:/usr/local/bin:/usr/bin:/bin")
    cd "$HOME/pnpm"
    installs -o @npm pnpm install
    works pnpm run odd
    assert_output_has true
    installs -o @npm pnpm add is-even@1.0.0
    works node -p 'require("is-even")(3)'
    assert_equal "$output" false
    installs pnpm remove is-even
    works pnpm run odd
    inside --install rm -r node_modules
    installs pnpm install --offline --frozen-lockfile
    works pnpm run odd
}

@test "D9: yarn: install, lock, run; add; remove" {
    ENV+=(PATH="$HOME/.local/bin:/usr/local/bin:/usr/bin:/bin")
    cd "$HOME/yarn"
    installs -o @npm yarn install
    works yarn --silent odd
    assert_equal "$output" true
    installs -o @npm yarn add is-even@1.0.0
    works node -p 'require("is-even")(3)'
    assert_equal "$output" false
    installs yarn remove is-even
    works yarn --silent odd
}

# --- next, which brings a compiler of its own

@test "D9: next build" {
    cd "$HOME/site"
    ENV+=(NEXT_TELEMETRY_DISABLED=1)
    echo '{"name":"site","version":"1.0.0","private":true}' >package.json
    echo 'export default function Page() { return <p>price {6 * 7}</p> }' >pages/index.js
    installs -o @npm npm install next@14.2.33 react@18.3.1 react-dom@18.3.1
    works npx next build
    grep -q 'price' .next/server/pages/index.html
}

# --- python

@test "D9: python -m venv, pip install of a wheel, pytest" {
    cd "$HOME/python"
    cp "$(/usr/bin/python3 "$FIXTURES/pyapp/make-wheel" "$T")" .
    echo 'import greeter' >test_greeter.py
    echo 'def test_greeter(): assert greeter.__name__ == "greeter"' >>test_greeter.py
    inside /usr/bin/python3 -m venv --system-site-packages .venv
    assert_status 0
    installs .venv/bin/pip install --no-index ./greeter-1.0-py3-none-any.whl
    works .venv/bin/greet you
    assert_equal "$output" 'hello, you'
    works .venv/bin/python -m pytest -q
    assert_output_has '1 passed'
    installs .venv/bin/pip uninstall -y greeter
    inside .venv/bin/python -m greeter you
    assert_status 1
}

# --- D4: from other mounts into the project

@test "D4: mv copies from /tmp and from a cache into the project" {
    cd "$HOME/python"
    inside --no-install sh -c 'for d in /tmp "$HOME/.cache" "$HOME/.npm"; do
        mkdir "$d/dir" && echo kept >"$d/dir/file" && mv "$d/dir" moved && cat moved/file && rm -r moved; done'
    assert_status 0
    assert_equal "$output" $'kept\nkept\nkept'
    assert_equal "$stderr" ''
}

@test "D4: a bare rename or link from there gives EXDEV" {
    cd "$HOME/python"
    cat >across.py <<'PYTHON'
import errno, os, shutil
for place in "/tmp", os.environ["HOME"] + "/.cache", os.environ["HOME"] + "/.npm":
    source = place + "/file"
    open(source, "w").close()
    for call in os.rename, os.link:
        try:
            print(call.__name__, call(source, "file"))
        except OSError as e:
            print(call.__name__, errno.errorcode[e.errno])
    shutil.move(source, "file") # what pip and others do
    os.unlink("file")
PYTHON
    inside /usr/bin/python3 across.py
    assert_status 0
    assert_equal "$output" $'rename EXDEV\nlink EXDEV\nrename EXDEV\nlink EXDEV\nrename EXDEV\nlink EXDEV'
    inside ln /tmp/nothing here
    [[ $status -ne 0 ]]
    inside sh -c 'echo x >/tmp/file; ln /tmp/file here'
    assert_status 1
    assert_stderr_has 'Invalid cross-device link'
    works sh -c 'ln across.py same && mv same other && rm other' # within the project both work
}
