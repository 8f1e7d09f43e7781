add_executable(treedigest ${CMAKE_SOURCE_DIR}/tests/helpers/treedigest.c)
target_link_libraries(treedigest PRIVATE sbox_lock)
add_test(NAME unit.fingerprint_vectors COMMAND ${CMAKE_SOURCE_DIR}/tests/helpers/fingerprint-test.sh
    $<TARGET_FILE:treedigest> ${CMAKE_SOURCE_DIR})
set_tests_properties(unit.fingerprint_vectors PROPERTIES LABELS unit)
