# Builds that look for mistakes; the presets asan, tsan, coverage and fuzz switch them on.
set(FAULTLINE_SANITIZE "" CACHE STRING "what -fsanitize= gets: address,undefined or thread")
option(FAULTLINE_COVERAGE "count which lines are reached" OFF)
option(FAULTLINE_FUZZ "build the libFuzzer targets of tests/fuzz (needs clang)" OFF)

function(add_cxx_options)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()

if(FAULTLINE_SANITIZE)
  # The first report ends the program, so that its test fails.
  add_cxx_options(-fsanitize=${FAULTLINE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FAULTLINE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses g++'s flow analysis: it warns of uninitialised uses that do not exist. In the
    # plain build the warning stays an error.
    add_cxx_options(-Wno-error=maybe-uninitialized)
    if(FAULTLINE_SANITIZE STREQUAL "thread")
      # g++ 12 warns of each std::atomic_thread_fence, which its thread sanitizer does not model. Only Boost.Asio
      # uses them.
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
  # A target's program has only the code that it reaches, so that other changes do not invalidate the minutes that
  # it has run (scripts/fuzz.sh).
  add_cxx_options(-ffunction-sections -fdata-sections)
  add_link_options(-fuse-ld=lld -Wl,--gc-sections)
endif()
