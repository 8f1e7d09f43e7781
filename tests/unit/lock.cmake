add_executable(treedigest ${CMAKE_SOURCE_DIR}/tests/helpers/treedigest.c)
target_link_libraries(treedigest PRIVATE sbox_lock)
add_test(NAME unit.fingerprint_vectors COMMAND ${CMAKE_SOURCE_DIR}/tests/helpers/fingerprint-test.sh
    $<TARGET_FILE:treedigest> ${CMAKE_SOURCE_DIR})
set_tests_properties(unit.fingerprint_vectors PROPERTIES LABELS unit)

sbox_unit(record lock)

# These start threads: the thread sanitizer preset runs them too.
add_library(unit_lock_project STATIC lock_project.c)
target_include_directories(unit_lock_project PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(unit_lock_project PUBLIC sbox_lock unit_scratch)
foreach(name IN ITEMS lock lock_links preview walk)
    sbox_unit(${name} lock)
    target_link_libraries(test_${name} PRIVATE unit_lock_project)
    set_tests_properties(unit.${name} PROPERTIES LABELS "unit;threads")
endforeach()
