# What `cmake --install` lays down, and the packages ./dev package makes of it.
include(GNUInstallDirs)
install(TARGETS faultline RUNTIME)
install(FILES README.md CHANGELOG.md docs/api.md docs/architecture.md docs/operations.md docs/alerting.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY packaging/prometheus DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES packaging/faultline.service DESTINATION lib/systemd/system)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_CONTACT "The Faultline authors <faultline@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "explains why a multi-GPU NCCL job hangs")
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Faultline reads the logs of a distributed training job and the kernel logs of its
hosts, and names the rank, GPU or link that the others wait for, with the lines
that prove it. It runs as a service that logs are sent to, or over files.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/postinst ${PROJECT_SOURCE_DIR}/packaging/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
