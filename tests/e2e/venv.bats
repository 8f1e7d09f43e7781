# A Python project with a virtual environment that holds a wheel made on the spot: the commands of
# every day work with the network off, and a tree that was touched does not boot.
load ../helpers/common

setup_file()
{
    export APP_DIR
    APP_DIR=$(mktemp -d "$HOME/sbox-venv.XXXXXX")
    HOME=$APP_DIR/home
    mkdir -p "$HOME"
    "$FIXTURES/install-pyapp" "$HOME/app"
    P=$HOME/app
    setup_git
    cd "$P"
    sbox lock
}

teardown_file()
{
    rm -rf "$APP_DIR"
}

setup()
{
    HOME=$APP_DIR/home
    P=$HOME/app
    SITE=$(echo "$P"/.venv/lib/python3*/site-packages)
    SITE=${SITE#"$P/"}
    # an activated environment
    ENV=(VIRTUAL_ENV="$P/.venv" PATH="$P/.venv/bin:/usr/local/bin:/usr/bin:/bin")
    cd "$P" || return 1
}

teardown()
{
    cd / || return 1
}

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
    assert_stderr_has "$1: .venv/$2"
    [[ ! -e marker ]]
    run --separate-stderr sbox verify
    assert_status 1
    assert_output_has "$(printf '  %-9s %s' "$1" "$2")"
}

boots()
{
    works python -m greeter again
    assert_equal "$output" "hello, again"
    run --separate-stderr sbox verify
    assert_status 0
}

@test "lock recorded the venv, verify finds it the same" {
    run --separate-stderr sbox verify
    assert_status 0
    assert_output_has "the same as locked: 1 tree"
    assert_equal "$stderr" ""
}

@test "python -m of a package in the venv" {
    works python -m greeter you
    assert_equal "$output" "hello, you"
    assert_equal "$stderr" ""
}

@test "the venv's own python by its path, and a console script" {
    works .venv/bin/python -m greeter path
    assert_equal "$output" "hello, path"
    works greet script
    assert_equal "$output" "hello, script"
}

@test "python -m of the project, with a pool of processes" {
    works python -m app a b
    assert_equal "$output" "hello, a; hello, b"
}

@test "python -m unittest" {
    works python -m unittest -q
    assert_stderr_has "OK"
}

@test "git add and git commit" {
    echo "# a line" >>app/__main__.py
    works git add app/__main__.py
    works git commit -q -m "from inside"
    assert_equal "$(git log -1 --format=%s)" "from inside"
    assert_equal "$(git status --porcelain)" ""
}

@test "one byte changed with mtime put back" {
    local file=$SITE/greeter/__init__.py
    cp -p "$file" "$APP_DIR/kept"
    printf X | dd of="$file" bs=1 seek=3 conv=notrunc status=none
    touch -r "$APP_DIR/kept" "$file"
    refused modified "${file#.venv/}"
    dd if="$APP_DIR/kept" of="$file" conv=notrunc status=none
    boots
}

@test "one file added: a .pth that python would execute at each start" {
    echo 'import os' >"$SITE/extra.pth"
    refused added "${SITE#.venv/}/extra.pth"
    rm "$SITE/extra.pth"
    boots
}

@test "one mode changed" {
    chmod u+s .venv/bin/greet
    refused mode bin/greet
    chmod u-s .venv/bin/greet
    boots
}

@test "one link retargeted" {
    ln -sfn ../../app/__main__.py .venv/bin/python3
    refused target bin/python3
    ln -sfn /usr/bin/python3 .venv/bin/python3
    boots
}
