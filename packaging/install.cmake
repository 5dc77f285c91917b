# What `cmake --install` installs below its prefix; ./dev package makes packages from it. The unit and the
# pages expect the prefix /usr, with etc/ in /etc.
include(GNUInstallDirs)

# The pages of the manual and the completions are written by the program itself.
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/stamp DEPENDS faultline VERBATIM
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
  COMMAND faultline man --into ${manual}
  COMMAND ${CMAKE_COMMAND} -E touch ${manual}/stamp)
add_custom_target(manual ALL DEPENDS ${manual}/stamp)

install(TARGETS faultline RUNTIME)
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_DATADIR} PATTERN stamp EXCLUDE)
install(CODE "execute_process(COMMAND [[${PROJECT_SOURCE_DIR}/packaging/docs.sh]]
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES packaging/faultline.service packaging/faultline-ship.service DESTINATION lib/systemd/system)
install(FILES packaging/faultline.toml DESTINATION ${CMAKE_INSTALL_SYSCONFDIR}/faultline)
