# What an installation has beside the program: manual pages, completions and the schema, made from the program's own tables;
# pkg-config file, documents, and a Debian package by `cpack -G DEB`.
if(NOT TARGET wakebal)
    return()
endif()

set(made "${PROJECT_BINARY_DIR}/made")
find_program(WB_GZIP gzip)
if(NOT WB_GZIP)
    set(WB_GZIP "")
endif()
add_custom_command(OUTPUT "${made}/stamp"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${made}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${made}"
    COMMAND wakebal generate man "${made}/man"
    COMMAND wakebal generate completion "${made}/completion"
    COMMAND wakebal generate schema "${made}/schema"
    COMMAND "${CMAKE_COMMAND}" "-DGZIP=${WB_GZIP}" "-DFOLDER=${made}/man" -P "${PROJECT_SOURCE_DIR}/cmake/compress_man.cmake"
    COMMAND "${CMAKE_COMMAND}" -E touch "${made}/stamp"
    DEPENDS wakebal VERBATIM)
add_custom_target(wakebal_made ALL DEPENDS "${made}/stamp")

install(DIRECTORY "${made}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" FILES_MATCHING PATTERN "*.1" PATTERN "*.1.gz")
install(DIRECTORY "${made}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man5" FILES_MATCHING PATTERN "*.5" PATTERN "*.5.gz")
install(FILES "${made}/completion/wakebal.bash" RENAME wakebal
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${made}/completion/_wakebal" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
install(FILES "${made}/completion/wakebal.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(DIRECTORY "${made}/schema" DESTINATION "${CMAKE_INSTALL_DATADIR}/wakebal")
install(DIRECTORY docs/examples DESTINATION "${CMAKE_INSTALL_DATADIR}/wakebal")
file(GLOB docs "${PROJECT_SOURCE_DIR}/docs/*.md")
install(FILES README.md ${docs} DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs/img DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.png")
install(FILES cmake/deb_copyright RENAME copyright DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# wakebal-mpi has a page of its own, where it is built.
if(TARGET wakebal-mpi)
    configure_file(cmake/wakebal-mpi.1 "${PROJECT_BINARY_DIR}/mpi_man/wakebal-mpi.1" COPYONLY)
    execute_process(COMMAND "${CMAKE_COMMAND}" "-DGZIP=${WB_GZIP}" "-DFOLDER=${PROJECT_BINARY_DIR}/mpi_man"
        -P "${PROJECT_SOURCE_DIR}/cmake/compress_man.cmake" COMMAND_ERROR_IS_FATAL ANY)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/mpi_man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
        FILES_MATCHING PATTERN "wakebal-mpi.1*")
endif()

# Headers alone are the same on every architecture: share. From there up to the prefix, wherever that is moved to.
string(REGEX REPLACE "[^/]+" ".." WB_PC_UP "${CMAKE_INSTALL_DATADIR}/pkgconfig")
configure_file(cmake/wakebal.pc.in "${PROJECT_BINARY_DIR}/wakebal.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/wakebal.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")

set(CPACK_PACKAGE_NAME wakebal)
set(CPACK_PACKAGE_VENDOR wakebal)
set(CPACK_PACKAGE_CONTACT "The authors of wakebal")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of kernel wakeups, placement and load balancing")
set(CPACK_PACKAGE_DESCRIPTION "Predicts throughput and latency of communicating tasks (pipes, loopback
TCP, hackbench) under the schedulers of named kernel versions on described
machines, explains them, runs parameter studies, and compares predictions
with real runs.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
# In a Debian package only: its changelog, and why one program is linked as it is.
set(deb_tree "${PROJECT_BINARY_DIR}/deb_tree/usr")
configure_file(cmake/deb_changelog "${deb_tree}/share/doc/wakebal/changelog" @ONLY)
configure_file(cmake/deb_overrides "${deb_tree}/share/lintian/overrides/wakebal" COPYONLY)
if(WB_GZIP)
    execute_process(COMMAND "${WB_GZIP}" -9nf "${deb_tree}/share/doc/wakebal/changelog" COMMAND_ERROR_IS_FATAL ANY)
endif()
set(CPACK_INSTALLED_DIRECTORIES "${PROJECT_BINARY_DIR}/deb_tree" .)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
find_program(WB_SHLIBDEPS dpkg-shlibdeps)
if(WB_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
