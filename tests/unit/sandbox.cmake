sbox_unit(env_names sandbox)
sbox_unit(env_values sandbox)
sbox_unit(env_scrub sandbox)
