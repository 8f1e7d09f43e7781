sbox_unit(options cli)
sbox_unit(json cli)
sbox_unit(cli_text cli)
sbox_unit(net_options cli)
sbox_unit(shortcut cli)
target_link_libraries(test_shortcut PRIVATE unit_scratch)
sbox_unit(docs docs cli)

# What was generated is read by those that it is for.
find_program(MANDOC mandoc REQUIRED)
find_program(BASH_PROGRAM bash REQUIRED)
add_test(NAME docs.man COMMAND ${MANDOC} -Tlint -Wwarning ${CMAKE_BINARY_DIR}/man/sbox.1)
add_test(NAME docs.completion
    COMMAND ${BASH_PROGRAM} ${CMAKE_SOURCE_DIR}/tests/helpers/completion-test.bash
        ${CMAKE_BINARY_DIR}/completions/sbox)
set_tests_properties(docs.man docs.completion PROPERTIES LABELS unit)
