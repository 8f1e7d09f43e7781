# Dependency trees made by hand, for tests that need no package manager.
#
#     add_package TREE NAME VERSION    a small package below TREE
#     make_tree                        $P/node_modules with a few of them, links, an executable

add_package()
{
    local dir=$1/$2
    mkdir -p "$dir/lib"
    printf '{"name":"%s","version":"%s"}\n' "$2" "$3" >"$dir/package.json"
    printf 'module.exports = "%s";\n' "$2" >"$dir/index.js"
    printf 'exports.x = 1;\n' >"$dir/lib/x.js"
}

make_tree()
{
    add_package node_modules alpha 1.0.0
    add_package node_modules beta 2.1.0
    add_package node_modules @scope/gamma 0.3.0
    printf '#!/bin/sh\necho alpha\n' >node_modules/alpha/cli.sh
    chmod 755 node_modules/alpha/cli.sh
    mkdir -p node_modules/.bin
    ln -s ../alpha/cli.sh node_modules/.bin/alpha
}

make_venv()
{
    mkdir -p "$1/lib/python3.11/site-packages/wheel_a-1.2.dist-info"
    printf 'home = /usr/bin\nversion = 3.11.2\n' >"$1/pyvenv.cfg"
    printf 'Metadata-Version: 2.1\nName: wheel-a\nVersion: 1.2\n' \
        >"$1/lib/python3.11/site-packages/wheel_a-1.2.dist-info/METADATA"
    printf 'x = 1\n' >"$1/lib/python3.11/site-packages/wheel_a.py"
}

# In a user and mount namespace of its own: script, then its arguments as $1…
in_namespace()
{
    bare unshare --user --map-root-user --mount bash -euc "$1" - "${@:2}"
}

DATA=.local/share/sbox
