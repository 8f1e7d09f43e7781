add_executable(schema ${CMAKE_SOURCE_DIR}/tests/helpers/schema.c)
target_link_libraries(schema PRIVATE sbox_store)
add_test(NAME unit.schema_is_generated COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:schema>
    -DEXPECTED=${CMAKE_SOURCE_DIR}/db/schema.sql -P ${CMAKE_SOURCE_DIR}/tests/helpers/same_output.cmake)
set_tests_properties(unit.schema_is_generated PROPERTIES LABELS unit)

foreach(name IN ITEMS manifest pkgjson)
    sbox_unit(${name} store)
    target_link_libraries(test_${name} PRIVATE unit_scratch)
endforeach()
