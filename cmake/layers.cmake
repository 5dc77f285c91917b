# add_layer(FOLDER [HOT] USES layer... PRECOMPILED layer LIBRARIES target...): makes a static library of a folder. It has
# an include root of its own, so that an include from a lower layer ("http/router.h" in a parser) is not found. Its
# sources are those in the folder and below it, except main.cpp, which is an executable's, and shim.cpp, which is a
# library of its own. The layer in rules/state is the target rules_state.
# PRECOMPILED: the layer whose pch.h is precompiled for all sources. g++ needs longer to write a precompiled header than
# to read it four times, so layers share a few.
# HOT: each line of a log, or each diagnosis, passes through the layer. Other layers are optimised less, which saves a
# fifth of their compile time. In a debug build, too: what the tests would lose there is more than what is saved.
function(add_layer folder)
  cmake_parse_arguments(ARG "HOT" "PRECOMPILED" "USES;LIBRARIES" ${ARGN})
  string(REPLACE / _ name ${folder})
  foreach(lower IN LISTS ARG_USES)
    if(NOT TARGET ${lower})
      message(FATAL_ERROR "${name} uses ${lower}, which is not declared above it")
    endif()
  endforeach()
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  cmake_path(GET folder PARENT_PATH above)
  file(MAKE_DIRECTORY ${root}/${above})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/(main|shim)\\.cpp$")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS FOLLOW_SYMLINKS ${root}/${folder}/*.h)
  add_library(${name} STATIC ${sources})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
  target_link_libraries(${name} PUBLIC ${ARG_USES} ${ARG_LIBRARIES})
  if(ARG_PRECOMPILED STREQUAL name)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${folder}/pch.h)
  elseif(ARG_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
  if(NOT ARG_HOT)
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  elseif(NOT FAULTLINE_COVERAGE)
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endif()
  join_units(${name})
endfunction()
