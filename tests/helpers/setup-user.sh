#!/bin/sh
# Prepares what the end-to-end tests need when the suite runs as root: an ordinary user, and the
# programs and tests in a place which that user can read (a clone below /root is not).
#
#     setup-user.sh BUILD_DIR SOURCE_DIR     prints the stage's path
#
# As an ordinary user there is nothing to prepare: the tests use the build directory as it is.
set -eu
build=$(realpath "$1")
source=$(realpath "$2")
user=${SBOX_TEST_USER:-sboxtest}

if [ "$(id -u)" -ne 0 ]; then
    echo "$build"
    exit 0
fi

if ! id "$user" >/dev/null 2>&1; then
    # A second clone's suite may do the same at this moment: whoever comes first wins.
    useradd --create-home --user-group --shell /bin/bash "$user" 2>/dev/null || id "$user" >/dev/null
fi

# One stage per build directory: several clones may test at once.
stage=/usr/local/lib/sbox-test/$(basename "$build")-$(printf %s "$build" | sha256sum | cut -c1-8)
install -d -m 0755 "$stage" "$stage/bin"
for program in sbox sbox-proxy sbox-archive probe sbox-layers-off sbox-gateway proxy-confined; do
    for folder in . bin src src/proxy src/archive tests/helpers; do
        if [ -f "$build/$folder/$program" ]; then
            # install(1) unlinks first: a program that still runs is not disturbed
            install -m 0755 "$build/$folder/$program" "$stage/bin/$program"
        fi
    done
done
for folder in tests/e2e tests/helpers fixtures docs; do
    if [ -d "$source/$folder" ]; then
        rm -rf "${stage:?}/$folder"
        mkdir -p "$stage/$folder"
        cp -R "$source/$folder/." "$stage/$folder/"
    fi
done
chmod -R u+rwX,go+rX,go-w "$stage"
echo "$stage"
