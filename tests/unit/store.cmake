add_executable(schema ${CMAKE_SOURCE_DIR}/tests/helpers/schema.c)
target_link_libraries(schema PRIVATE sbox_store)
foreach(kind manifest journal)
    set(expected ${CMAKE_SOURCE_DIR}/db/schema.sql)
    if(kind STREQUAL journal)
        set(expected ${CMAKE_SOURCE_DIR}/db/journal.sql)
    endif()
    add_test(NAME unit.schema_is_generated.${kind} COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:schema> -DARGUMENT=${kind} -DEXPECTED=${expected}
        -P ${CMAKE_SOURCE_DIR}/tests/helpers/same_output.cmake)
    set_tests_properties(unit.schema_is_generated.${kind} PROPERTIES LABELS unit)
endforeach()

foreach(name IN ITEMS journal jsonurls manifest pkgjson)
    sbox_unit(${name} store)
    target_link_libraries(test_${name} PRIVATE unit_scratch)
endforeach()
