# Uses ccache and mold if they are installed. Neither is needed, and neither changes the result.
find_program(FAULTLINE_CCACHE ccache)
if(FAULTLINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/ccache.sh ${FAULTLINE_CCACHE})
endif()

find_program(FAULTLINE_MOLD mold)
if(FAULTLINE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
