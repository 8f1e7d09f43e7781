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

@test "docs/layers.md is what this machine shows" {
    plant_targets
    attack "$HELPERS/layer-table.sh" "$LAYERS_OFF" >"$T/layers.md"
    if [[ -n ${SBOX_BLESS:-} ]]; then cp "$T/layers.md" "$SBOX_BLESS/layers.md"; fi
    run diff "$SBOX_SOURCE_DIR/docs/layers.md" "$T/layers.md"
    assert_status 0
}
