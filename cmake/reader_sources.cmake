# sum_reader_sources(TARGET FOLDER...): gives TARGET the function reader_sources() of rules/knowledge/reader_sources.h:
# a sum of all sources in the folders. It is worked out when the program is built, and only if one of them changed.
function(sum_reader_sources target)
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.h ${folder}/*.yaml ${folder}/*.csv)
    list(APPEND sources ${files})
  endforeach()
  list(SORT sources)
  set(list ${PROJECT_BINARY_DIR}/embedded/reader_sources.list)
  list(JOIN sources "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)
  set(out ${PROJECT_BINARY_DIR}/embedded/reader_sources.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DLIST=${list} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${out}
            -P ${PROJECT_SOURCE_DIR}/cmake/sum_sources.cmake
    DEPENDS ${sources} ${list} ${PROJECT_SOURCE_DIR}/cmake/sum_sources.cmake
    COMMENT "Summing up the sources of the reader" VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
