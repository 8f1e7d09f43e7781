sbox_unit(base base)
