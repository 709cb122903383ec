# Fail if a variant contains code that the linker may share with other files (weak or unique symbols). The linker keeps
# one of several copies, which might be one for a newer processor. Then all variants would require that processor.
foreach(object ${OBJECTS})
    execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "[^\n]* [WVu] [^\n]*" shared "${symbols}")
    if(shared)
        message(FATAL_ERROR "${object} contains ${shared}: put it into an unnamed namespace")
    endif()
endforeach()
