# Each layer switched off in turn, with a program that only the tests have.
# ctest-timeout: 900
load ../helpers/common
load ../helpers/attack

teardown()
{
    remove_targets
}

@test "C2: true with each layer off in turn: nested namespaces move no protected name" {
    plant_targets
    local layer rows=(nested.dirfd-env nested.umount-env nested.pivot-env nested.pivot-rename-env
        nested.pivot-rename-config nested.pivot-rename-hooks)
    for layer in nested seccomp landlock caps; do
        run --separate-stderr bare "$LAYERS_OFF" --off="$layer" ./probe "${rows[@]}"
        assert_equal "${#lines[@]}" 6
        refute_output_has OK
    done
}

# Of docs/layers.md: the head of its big table, and the rows that attack-control.expected vouches for
# on any machine. Which devices, protocols and services a host has makes the others differ.
rows_of_any_machine()
{
    awk -F ' *[|] *' 'NR == FNR {known[$1]; next}
        $2 == "row" || $2 in known || $2 ~ /^git[.]plant/' "$E2E/attack-control.expected" "$1"
}

@test "docs/layers.md says what this machine shows" {
    plant_targets
    attack "$HELPERS/layer-table.sh" "$LAYERS_OFF" >"$T/layers.md"
    if [[ -n ${SBOX_BLESS:-} ]]; then cp "$T/layers.md" "$SBOX_BLESS/layers.md"; fi
    rows_of_any_machine "$SBOX_SOURCE_DIR/docs/layers.md" >"$T/expected"
    rows_of_any_machine "$T/layers.md" >"$T/seen"
    (($(wc -l <"$T/expected") > 50))
    run diff "$T/expected" "$T/seen"
    assert_status 0
}
