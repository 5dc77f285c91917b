# ccache and mold where they are installed. Neither changes what is built, and neither is needed.
find_program(FAULTLINE_CCACHE ccache)
if(FAULTLINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these two ccache refuses every file that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${FAULTLINE_CCACHE})
endif()

find_program(FAULTLINE_MOLD mold)
if(FAULTLINE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
