# Projects whose packages come from archives made on the spot: install runs without a network.
# Loaded after common.bash.
#
#     setup_install               a project with a package.json, npm without its chatter
#     pack NAME VERSION [FILE]    $P/NAME-VERSION.tgz, an npm package; FILE goes in as install.js,
#                                 which npm runs when it installs the package
#     installed NAME VERSION      the tree of the host holds it
#     locked_project              npm install of dep 1.0.0, locked
#     boots, refused              does an ordinary run start?
setup_install()
{
    setup_project
    printf '{"name":"p","version":"1.0.0"}\n' >package.json
    ENV=(npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false)
}

pack()
{
    local dir=$T/pack script=
    mkdir -p "$dir/package"
    if [[ -n ${3:-} ]]; then
        script=',"scripts":{"install":"node install.js"}'
        cp "$3" "$dir/package/install.js"
    fi
    printf '{"name":"%s","version":"%s","bin":"./cli.js"%s}\n' "$1" "$2" "$script" \
        >"$dir/package/package.json"
    printf '#!/usr/bin/env node\nconsole.log("%s %s")\n' "$1" "$2" >"$dir/package/cli.js"
    tar -C "$dir" -czf "$P/$1-$2.tgz" package
    rm -rf "$dir"
}

installed()
{
    assert_equal "$(node -p "require('$P/node_modules/$1/package.json').version")" "$2"
}

locked_project()
{
    pack dep 1.0.0
    sbox npm install ./dep-1.0.0.tgz
    sbox lock
}

boots()
{
    inside node node_modules/dep/cli.js
    assert_status 0
}

refused()
{
    inside touch marker
    assert_status 120
    [[ ! -e marker ]]
}
