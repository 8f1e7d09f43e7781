# Fails unless PROGRAM prints what the file EXPECTED holds.
execute_process(COMMAND ${PROGRAM} ${ARGUMENT} OUTPUT_VARIABLE is RESULT_VARIABLE code)
file(READ ${EXPECTED} was)
if(NOT code EQUAL 0 OR NOT is STREQUAL was)
    message(FATAL_ERROR "${EXPECTED} is not what ${PROGRAM} prints (exit ${code}):\n${is}")
endif()
