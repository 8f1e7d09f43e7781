# The attack table: every forbidden act of product.md and of the cases, tried inside by the probe,
# and what the kernel answers. attack-table.expected is the whole of it: name, answer, and "open" for
# what still works and a later issue closes.
load ../helpers/common
load ../helpers/attack

teardown()
{
    remove_targets
}

@test "outside of the sandbox the attacks work, so that a refusal means something" {
    plant_targets
    attack ./probe all >"$T/outside.table"
    local row missed=()
    while read -r row; do
        grep -qx "$row"$'\tOK' "$T/outside.table" || missed+=("$row: $(grep "^$row"$'\t' "$T/outside.table")")
    done < <(grep -v '^#' "$E2E/attack-control.expected")
    if ((${#missed[@]})); then fail "${missed[@]}"; fi
    # and the services were reached
    grep -qx tcp "$HOME/probe.contacts"
    grep -qx udp "$HOME/probe.contacts"
    grep -qx host.sock "$HOME/probe.contacts"
}

@test "inside, each row answers as attack-table.expected says" {
    plant_targets
    attack "$SBOX" run ./probe all >"$T/inside.table"
    compare_tables "$E2E/attack-table.expected" "$T/inside.table"
}

@test "inside, nothing reached a service of the host" {
    plant_targets
    attack "$SBOX" run ./probe all >/dev/null
    if [[ -s $HOME/probe.contacts ]]; then fail "$(sort "$HOME/probe.contacts" | uniq -c)"; fi
}

@test "after the attacks the host's files are what they were" {
    plant_targets
    local before
    before=$(state_of_home)
    attack "$SBOX" run ./probe all >/dev/null
    assert_equal "$(state_of_home)" "$before"
}
