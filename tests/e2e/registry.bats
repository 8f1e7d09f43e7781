# ctest-labels: registry
# ctest-timeout: 900
#
# A real npm project, installed from whatever registry the client is configured with: a
# developer's everyday commands work with the network off, and a tree that was touched does not boot.
load ../helpers/common

setup_file()
{
    export SHOP_DIR
    SHOP_DIR=$(mktemp -d "$HOME/sbox-registry.XXXXXX")
    P=$SHOP_DIR/home/shop
    "$HELPERS/installed-webapp" "$P"
    HOME=$SHOP_DIR/home
    setup_git
    cd "$P"
    sbox lock
}

teardown_file()
{
    rm -rf "$SHOP_DIR"
}

setup()
{
    HOME=$SHOP_DIR/home
    P=$HOME/shop
    cd "$P" || return 1
}

teardown()
{
    cd / || return 1
}

# works CMD…: the command succeeds in the sandbox and sbox has nothing to say.
works()
{
    run --separate-stderr sbox run "$@"
    assert_status 0
    refute_stderr_has "sbox: "
}

# refused VERDICT PATH: neither run nor verify lets the tree pass, and both name the culprit.
refused()
{
    run --separate-stderr sbox run touch marker
    assert_status 120
    assert_stderr_has "$1: node_modules/$2"
    [[ ! -e marker ]]
    run --separate-stderr sbox verify
    assert_status 1
    assert_output_has "$(printf '  %-9s %s' "$1" "$2")"
}

boots()
{
    works node -e 'console.log("up")'
    assert_output_has up
    run --separate-stderr sbox verify
    assert_status 0
}

@test "lock recorded the tree, verify finds it the same" {
    run --separate-stderr sbox verify
    assert_status 0
    assert_output_has "the same as locked: 1 tree"
    assert_equal "$stderr" ""
}

@test "node serves and asks itself on loopback, with a native addon" {
    works node src/server.js
    assert_equal "$output" "apples=3 pears=5"
    assert_equal "$stderr" ""
}

@test "npm start, the short form" {
    run --separate-stderr sbox npm start --silent
    assert_status 0
    assert_output_has "apples=3 pears=5"
}

@test "npm test" {
    works npm test
    assert_stderr_has "Tests:       2 passed, 2 total"
}

@test "npx jest with workers" {
    works npx jest --maxWorkers=2
    assert_stderr_has "Tests:       2 passed, 2 total"
}

@test "npm run build: vite bundles into the workspace" {
    rm -rf dist
    works npm run build
    assert_output_has "built in"
    grep -q '<script' dist/index.html
    [[ -n $(find dist/assets -name '*.js' -size +50k) ]]
}

@test "npx tsc accepts the sources, and finds a mistake" {
    works npx tsc
    assert_equal "$output" ""
    echo 'export const wrong: number = "text";' >src/wrong.tsx
    run --separate-stderr sbox run npx tsc
    rm src/wrong.tsx
    [[ $status -ne 0 && $status -lt 120 ]]
    assert_output_has "src/wrong.tsx(1,14): error TS2322"
}

@test "npx esbuild" {
    works npx esbuild src/Shelf.tsx --jsx=automatic
    assert_output_has "export function Shelf"
}

@test "git add and git commit" {
    echo "// a line" >>src/app.js
    works git add src/app.js
    works git commit -q -m "from inside"
    assert_equal "$(git log -1 --format=%s)" "from inside"
    assert_equal "$(git log -1 --format=%an)" "Tester"
    assert_equal "$(git status --porcelain)" ""
}

@test "no network: the registry's client cannot leave" {
    run --separate-stderr sbox run node -e \
        'fetch("http://192.0.2.1:80/").then(() => process.exit(0), () => process.exit(9))'
    assert_status 9
}

@test "after all of that the tree is still the locked one" {
    run --separate-stderr sbox verify
    assert_status 0
}

@test "one byte changed with mtime put back" {
    local file=node_modules/express/lib/express.js old
    old=$(head -c 1 "$file")
    touch -r "$file" "$SHOP_DIR/mtime"
    printf X | dd of="$file" conv=notrunc status=none
    touch -r "$SHOP_DIR/mtime" "$file"
    refused modified express/lib/express.js
    printf %s "$old" | dd of="$file" conv=notrunc status=none
    boots
}

@test "one file added" {
    echo 'process.exit(66)' >node_modules/react/extra.js
    refused added react/extra.js
    rm node_modules/react/extra.js
    boots
}

@test "one mode changed" {
    local file=node_modules/react/index.js mode
    mode=$(stat -c %a "$file")
    chmod 0755 "$file"
    refused mode react/index.js
    chmod "$mode" "$file"
    boots
}

@test "one link retargeted" {
    local link=node_modules/.bin/jest target
    target=$(readlink "$link")
    ln -sfn ../typescript/bin/tsc "$link"
    refused target .bin/jest
    ln -sfn "$target" "$link"
    boots
}
