# make install: program, libraries, headers, pkg-config file, CMake package, manual.
include(CMakePackageConfigHelpers)

install(TARGETS regard RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS regard_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS regard_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/regard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

configure_file(cmake/regard.pc.in regard.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/regard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regard)
configure_package_config_file(cmake/regard-config.cmake.in regard-config.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_FULL_LIBDIR CMAKE_INSTALL_FULL_INCLUDEDIR)
write_basic_package_version_file(regard-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/regard-config.cmake ${PROJECT_BINARY_DIR}/regard-config-version.cmake
        DESTINATION ${package_dir})

# The manual is printed by the program from its own tables, so it cannot disagree with --help.
add_custom_command(TARGET regard POST_BUILD COMMAND regard --man > ${PROJECT_BINARY_DIR}/regard.1 VERBATIM)
install(FILES ${PROJECT_BINARY_DIR}/regard.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
