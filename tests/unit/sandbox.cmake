sbox_unit(env_names sandbox)
sbox_unit(env_proxy sandbox)
sbox_unit(env_scrub sandbox)
sbox_unit(listens sandbox)

foreach(name caches facts plan policy_paths protect quarantine)
    sbox_unit(${name} sandbox)
    target_link_libraries(test_${name} PRIVATE unit_scratch)
endforeach()
