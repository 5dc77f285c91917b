# Where the libraries come from. FAULTLINE_PORTABLE: a binary that needs only glibc 2.34 or later, so that it runs
# on any distribution; ./dev package builds it.
option(FAULTLINE_PORTABLE "link everything but glibc into the binary" OFF)
set(FAULTLINE_SOURCES ${PROJECT_SOURCE_DIR}/build/tools/src CACHE PATH
  "FAULTLINE_PORTABLE: sources of the libraries that Debian has no static form of; ./dev package fetches them")

if(FAULTLINE_PORTABLE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)  # for all that find_package() and pkg-config find by a library's name
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()

find_package(Threads REQUIRED)
find_package(BZip2 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(yaml-cpp REQUIRED)
find_path(FAULTLINE_TOML toml++/toml.h REQUIRED)  # headers only
find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(protobuf REQUIRED IMPORTED_TARGET protobuf-lite)
pkg_check_modules(snappy REQUIRED IMPORTED_TARGET snappy)

if(NOT FAULTLINE_PORTABLE)
  find_package(fmt REQUIRED)
  find_package(simdjson REQUIRED)
  return()
endif()

# library_of_sources(TARGET AS SOURCE...): builds it from the sources of Debian's package, with the installed headers.
function(library_of_sources target as)
  foreach(source IN LISTS ARGN)
    if(NOT EXISTS ${FAULTLINE_SOURCES}/${source})
      message(FATAL_ERROR "${FAULTLINE_SOURCES}/${source} is not there; ./dev package fetches it")
    endif()
  endforeach()
  list(TRANSFORM ARGN PREPEND ${FAULTLINE_SOURCES}/)
  add_library(${target} STATIC ${ARGN})
  target_compile_options(${target} PRIVATE -w)
  add_library(${as} ALIAS ${target})
endfunction()

library_of_sources(static_fmt fmt::fmt fmtlib/src/format.cc fmtlib/src/os.cc)
library_of_sources(static_simdjson simdjson::simdjson simdjson/singleheader/simdjson.cpp)
target_compile_definitions(static_simdjson PUBLIC SIMDJSON_THREADS_ENABLED=1)

# yaml-cpp's package has both forms, but a target only for the shared one.
find_library(FAULTLINE_YAML yaml-cpp REQUIRED)
get_target_property(configurations yaml-cpp IMPORTED_CONFIGURATIONS)
foreach(configuration IN LISTS configurations)
  set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION_${configuration} ${FAULTLINE_YAML})
endforeach()

add_link_options(-static-libstdc++ -static-libgcc)
