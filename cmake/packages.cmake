# The libraries regard stands on. `regard_deps` is linked by the library; heavy ones belong to modules.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(JPEG REQUIRED)
pkg_check_modules(regard_packages REQUIRED IMPORTED_TARGET
    jansson libutf8proc sentencepiece yaml-0.1 zlib libzip libpng)

add_library(regard_deps INTERFACE)
target_link_libraries(regard_deps INTERFACE $<BUILD_INTERFACE:PkgConfig::regard_packages> $<BUILD_INTERFACE:JPEG::JPEG>
                                            Threads::Threads m ${CMAKE_DL_LIBS})

pkg_check_modules(zstd IMPORTED_TARGET libzstd) # .zst corpora
if(zstd_FOUND)
    target_link_libraries(regard_deps INTERFACE $<BUILD_INTERFACE:PkgConfig::zstd>)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/data/stream_zstd.c PROPERTIES COMPILE_DEFINITIONS RG_ZSTD)
    set(regard_zstd libzstd)
endif()

# Optional: without them the command that needs them says so.
pkg_check_modules(cairo IMPORTED_TARGET cairo pangocairo)
pkg_check_modules(microhttpd IMPORTED_TARGET libmicrohttpd)
if(cairo_FOUND)
    set(regard_figures_deps PkgConfig::cairo)
endif()
if(microhttpd_FOUND)
    set(regard_serve_deps PkgConfig::microhttpd)
endif()
find_path(cld2_include cld2/public/compact_lang_det.h) # which language a text is in
find_library(cld2_library cld2)
if(cld2_include AND cld2_library)
    set(regard_languages_deps ${cld2_library})
endif()
pkg_check_modules(icu IMPORTED_TARGET icu-uc) # sentences of documents
if(icu_FOUND)
    set(regard_sentences_deps PkgConfig::icu)
endif()
set(REGARD_MPI "ompi-c;mpich" CACHE STRING "MPI by the name of its pkg-config file (Open MPI: ompi-c, MPICH: mpich), the first that is installed")
foreach(mpi ${REGARD_MPI})
    if(NOT regard_mpi_deps)
        pkg_check_modules(${mpi} IMPORTED_TARGET ${mpi})
        if(${mpi}_FOUND)
            set(regard_mpi_deps PkgConfig::${mpi})
        endif()
    endif()
endforeach()
