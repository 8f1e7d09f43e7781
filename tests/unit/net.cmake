sbox_unit(address net)
