sbox_unit(address net)
sbox_unit(wire net)
