# make install: program, libraries, headers, pkg-config file, CMake package, manuals, completions; components are those
# of `make deb`.
include(CMakePackageConfigHelpers)

install(TARGETS regard RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS regard_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development)
install(TARGETS regard_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/regard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")

# Relocatable: the prefix is where the file is. What a static link needs: libraries that a source includes, no others.
file(RELATIVE_PATH regard_pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" regard_pc_up "${regard_pc_up}")
set(regard_pc_requires "")
file(GLOB library_headers src/*/*.h src/*/*/*.h)
foreach(pair jansson.h=jansson utf8proc.h=libutf8proc sentencepiece_processor.h=sentencepiece yaml.h=yaml-0.1 zlib.h=zlib
        zip.h=libzip png.h=libpng jpeglib.h=libjpeg zstd.h=${regard_zstd})
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 header)
    list(GET pair 1 package)
    set(used FALSE)
    foreach(source ${library_sources} ${library_headers})
        if(NOT used AND EXISTS ${source})
            file(STRINGS ${source} lines REGEX "^#include [<\"]${header}[>\"]" LIMIT_COUNT 1)
            if(lines)
                set(used TRUE)
            endif()
        endif()
    endforeach()
    if(used AND package)
        string(APPEND regard_pc_requires " ${package}")
    endif()
endforeach()
string(STRIP "${regard_pc_requires}" regard_pc_requires)
configure_file(cmake/regard.pc.in regard.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/regard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regard)
configure_package_config_file(cmake/regard-config.cmake.in regard-config.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_FULL_LIBDIR CMAKE_INSTALL_FULL_INCLUDEDIR)
write_basic_package_version_file(regard-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/regard-config.cmake ${PROJECT_BINARY_DIR}/regard-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# Manuals and completions are printed by the program from its own tables, so they cannot disagree with --help.
add_custom_command(TARGET regard POST_BUILD COMMAND ${CMAKE_COMMAND} -DREGARD=$<TARGET_FILE:regard>
    -DOUT=${PROJECT_BINARY_DIR}/share -P ${PROJECT_SOURCE_DIR}/cmake/manuals.cmake VERBATIM)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/share/regard.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME regard COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/share/_regard DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/share/regard.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT program)
