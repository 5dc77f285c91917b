# Builds that look for mistakes; the presets asan, tsan, coverage and fuzz switch these on.
set(FAULTLINE_SANITIZE "" CACHE STRING "what -fsanitize= gets: address,undefined or thread")
option(FAULTLINE_COVERAGE "count which lines are reached" OFF)
option(FAULTLINE_FUZZ "build the libFuzzer targets of tests/fuzz (needs clang)" OFF)

function(add_cxx_options)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()

if(FAULTLINE_SANITIZE)
  # The first report ends the program, so that no test passes in spite of one.
  add_cxx_options(-fsanitize=${FAULTLINE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FAULTLINE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses g++'s flow analysis: it sees uninitialised uses that the plain
    # build, where the warning stays an error, does not have.
    add_cxx_options(-Wno-error=maybe-uninitialized)
    if(FAULTLINE_SANITIZE STREQUAL "thread")
      # g++ 12 warns of each std::atomic_thread_fence, which its thread sanitizer does not model.
      # They are Boost.Asio's, not ours.
      add_cxx_options(-Wno-tsan)
    endif()
  endif()
endif()

if(FAULTLINE_COVERAGE)
  # Atomic counters: the tests are threaded, and torn counts come out negative.
  add_cxx_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

if(FAULTLINE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "FAULTLINE_FUZZ needs clang: cmake --preset fuzz")
  endif()
  add_cxx_options(-fsanitize=fuzzer-no-link)
  # Only what a target reaches is in its program, so that what is changed elsewhere leaves the minutes
  # that it has run (scripts/fuzz.sh).
  add_cxx_options(-ffunction-sections -fdata-sections)
  add_link_options(-fuse-ld=lld -Wl,--gc-sections)
endif()
