# Flags of every target of ours. No -ffast-math and no -march=native anywhere: the same source gives the same bits.
option(REGARD_WERROR "Warnings are errors" OFF)
option(REGARD_POISON "Fill dropped memory with a pattern (debug builds)" OFF)
option(REGARD_COVERAGE "Count which lines of the readers run (gcc, tools/coverage)" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

add_library(regard_flags INTERFACE)
target_include_directories(regard_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(regard_flags INTERFACE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE
    REGARD_VERSION="${PROJECT_VERSION}"
    $<$<BOOL:${REGARD_POISON}>:RG_DEBUG>)
target_compile_options(regard_flags INTERFACE -fvisibility=hidden -fno-semantic-interposition -fno-math-errno
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-missing-field-initializers $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<C_COMPILER_ID:Clang>:-Wno-string-concatenation> # "\xc2\x9b" "31m" is how a hex escape ends
    $<$<BOOL:${REGARD_WERROR}>:-Werror>)
target_link_options(regard_flags INTERFACE -Wl,--as-needed)

# Products and sums outside the kernels are rounded step by step; kernel files ask for contraction (kernels.cmake).
add_compile_options(-ffp-contract=off)

# Lines are counted in the readers alone, compiled as they are written (-O0).
if(REGARD_COVERAGE)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/coverage --readers OUTPUT_VARIABLE readers OUTPUT_STRIP_TRAILING_WHITESPACE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tools/coverage)
    set(regard_counted -O0 --coverage -fprofile-update=atomic)
    set_source_files_properties(${readers} PROPERTIES COMPILE_OPTIONS "${regard_counted}")
    add_link_options(--coverage)
endif()
