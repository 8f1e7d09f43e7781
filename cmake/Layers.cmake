# The layer rule: cli -> {lock, sandbox, proxy} -> {project, store, confine} -> base. A layer is a
# static library of the folder's own name; it can only see the layers it names here.
function(sbox_layer name)
    cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBS" ${ARGN})
    add_library(sbox_${name} STATIC ${ARG_SOURCES})
    target_link_libraries(sbox_${name} PUBLIC sbox_flags)
    foreach(layer IN LISTS ARG_USES)
        target_link_libraries(sbox_${name} PUBLIC sbox_${layer})
    endforeach()
    target_link_libraries(sbox_${name} PUBLIC ${ARG_LIBS})
endfunction()
