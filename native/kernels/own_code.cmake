# Fails if a variant contains code that the linker may share with other files (weak or unique symbols): of several
# copies the linker keeps one, perhaps the one for the newest processor, and then every variant would need that.
foreach(object ${OBJECTS})
    execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "[^\n]* [WVu] [^\n]*" shared "${symbols}")
    if(shared)
        message(FATAL_ERROR "${object} contains ${shared}: put it into an unnamed namespace")
    endif()
endforeach()
