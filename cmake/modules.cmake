# A module is a part of regard that needs a heavy library: build/<preset>/regard-<name>.so, opened on use by
# rg_module_open() so that nobody else waits for cairo or an HTTP server to be loaded. It takes the library's symbols
# from libregard.so, which the program has already loaded: public ones only, so what else it shares with the library (files after
# `deps`) is compiled into both.
#
# Its objects also go into regard_modules, a static library from which tests take what they name.
set_property(GLOBAL PROPERTY regard_module_libs)

function(regard_module name folder deps)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cc)
    list(FILTER sources EXCLUDE REGEX "/module\\.c$") # the library's side
    if(NOT sources OR NOT deps)
        message(STATUS "module ${name}: not built")
        return()
    endif()
    add_library(regard_${name}_objects OBJECT ${sources})
    target_link_libraries(regard_${name}_objects PRIVATE regard_flags ${deps})
    add_library(regard_${name} MODULE $<TARGET_OBJECTS:regard_${name}_objects> ${ARGN})
    set_target_properties(regard_${name} PROPERTIES PREFIX "" OUTPUT_NAME regard-${name}
        BUILD_RPATH "\$ORIGIN" BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "\$ORIGIN/..")
    target_link_libraries(regard_${name} PRIVATE regard_shared regard_flags ${deps})
    target_link_options(regard_${name} PRIVATE -Wl,--push-state,--no-as-needed,-lc,--pop-state) # also where it calls nothing of libc
    install(TARGETS regard_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/regard COMPONENT ${name})

    if(name STREQUAL "mpi") # tests run it under mpirun; linked, every test would load MPI
        return()
    endif()
    add_library(regard_${name}_static STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:regard_${name}_objects>)
    target_link_libraries(regard_${name}_static PUBLIC ${deps})
    set_property(GLOBAL APPEND PROPERTY regard_module_libs regard_${name}_static)
endfunction()
