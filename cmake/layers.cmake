# add_layer(FOLDER [HOT] USES layer... PRECOMPILED layer LIBRARIES target...): makes a static library of a folder. It has
# an include root of its own, so that an include from a lower layer ("http/router.h" in a parser) is not found. Its
# sources are those in the folder and below it, except main.cpp, which is an executable's, and shim.cpp, which is a
# library of its own. The layer in rules/state is the target rules_state.
# PRECOMPILED: the layer whose pch.h is precompiled for all sources. g++ needs longer to write a precompiled header than
# to read it four times, so layers share a few. Both must be HOT or neither: clang uses a precompiled header only with
# the optimisation that it was made with.
# HOT: each line of a log passes through the layer. It is optimised in a debug build, too: what the tests would lose is
# more than what is saved. Other layers are optimised less in a release build, which saves a fifth of their compile time.
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
  set(hot_${name} ${ARG_HOT} PARENT_SCOPE)
  if(ARG_PRECOMPILED STREQUAL name)
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${folder}/pch.h)
  elseif(NOT hot_${ARG_PRECOMPILED} STREQUAL ARG_HOT)
    message(FATAL_ERROR "${name} and ${ARG_PRECOMPILED} must both be HOT or neither, to share a precompiled header")
  else()
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
  if(NOT ARG_HOT)
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  elseif(NOT FAULTLINE_COVERAGE)
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endif()
  join_units(${name})
endfunction()
