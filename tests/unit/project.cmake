# Tests that work on files share scratch.c.
add_library(unit_scratch STATIC scratch.c)
target_include_directories(unit_scratch PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(unit_scratch PRIVATE sbox_base sbox_flags ${CMOCKA_LIBRARIES})

function(sbox_project_unit name)
    sbox_unit(${name} project)
    target_link_libraries(test_${name} PRIVATE unit_scratch)
endfunction()

sbox_project_unit(datadir)
sbox_project_unit(lease)
sbox_unit(git project)
target_compile_definitions(test_git PRIVATE
    CORPUS_GITINDEX="${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/gitindex")
sbox_unit(hosts project)
sbox_unit(install_verb project)
sbox_unit(mountinfo project)
sbox_unit(pyvenv project)
sbox_unit(conf project)
sbox_unit(secret project)
sbox_project_unit(root)
sbox_project_unit(scan)
