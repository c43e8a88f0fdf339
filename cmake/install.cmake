# install + find_package(talus)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS talus EXPORT talus-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/talus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT talus-targets NAMESPACE talus:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
configure_package_config_file(cmake/talus-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/talus-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/talus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/talus-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/talus-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
