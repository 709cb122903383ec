# Fails where a variant brings code that the linker may share with others (weak or unique symbols): of several copies
# it keeps one, perhaps that for the newest processor, and all programs would need that.
foreach(object ${OBJECTS})
    execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "[^\n]* [WVu] [^\n]*" shared "${symbols}")
    if(shared)
        message(FATAL_ERROR "${object} has ${shared}: put it into an unnamed namespace")
    endif()
endforeach()
