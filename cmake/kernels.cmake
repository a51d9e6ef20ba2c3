# src/tensor/kernels/*.c is compiled once for each instruction set, with RG_ISA (its name, the end of every symbol),
# RG_ISA_<name> (to ask for it in #if) and RG_LANES (floats in a register).
#
# `slim` is no table: four lanes with AVX2's instructions, for rows that half of AVX2's registers hold (NARROW in isa.h).
# `wide` has the register width of AVX-512 in AVX2 instructions: sanitized builds test the wide code with it where AVX-512
# is missing.
# Vector types need gnu17, contraction is what makes a*b+c an FMA, and gcc decides where to contract as it optimises:
# one level for all builds that run, or the bits differ (REGARD_KERNEL_LEVEL; the clang build only compiles). `baseline`
# has no FMA and the same bits at any level: with sanitizers, which make its vectors four times as slow to compile at -O3,
# it gets -O1. Undefined behaviour is looked for in one form of each source: the checks of vector types take three times
# as long to compile as all the rest. The optimiser's loops are sums of two products, where either may be fused and
# compilers choose differently for each instruction set: without contraction all give the bits of plain C. So are the
# products of 8-bit integers (int8.c), of which `vnni` and `neondot` are further forms with dot product instructions.
set(REGARD_KERNEL_LEVEL -O3 CACHE STRING "Optimisation of the kernels")
file(GLOB kernel_sources CONFIGURE_DEPENDS src/tensor/kernels/*.c)
set_source_files_properties(src/tensor/kernels/optimise.c src/tensor/kernels/int8.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
set(regard_kernel_objects)
set(runs_avx512 FALSE)
if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo runs_avx512 REGEX "avx512bw.*avx512vl" LIMIT_COUNT 1)
endif()

function(regard_kernels isa lanes)
    if(NOT kernel_sources)
        return()
    endif()
    set(target kernels_${isa})
    set(sources ${kernel_sources})
    if(isa STREQUAL slim)
        list(FILTER sources INCLUDE REGEX "/(dropout|heads|lists|edges)\\.c$")
    elseif(isa MATCHES "^(vnni|neondot)$")
        list(FILTER sources INCLUDE REGEX "/int8\\.c$")
    endif()
    add_library(${target} OBJECT ${sources})
    set_target_properties(${target} PROPERTIES C_EXTENSIONS ON)
    target_link_libraries(${target} PRIVATE regard_flags)
    target_compile_definitions(${target} PRIVATE RG_ISA=${isa} RG_ISA_${isa}=1 RG_LANES=${lanes})
    target_compile_options(${target} PRIVATE ${ARGN} -Wno-psabi -ffp-contract=fast ${REGARD_KERNEL_LEVEL})
    if(isa STREQUAL baseline AND CMAKE_C_FLAGS MATCHES "-fsanitize=")
        target_compile_options(${target} PRIVATE -O1)
    endif()
    if(NOT isa MATCHES "^(baseline|neon)$" AND CMAKE_C_FLAGS MATCHES "undefined")
        target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
    endif()
    set(regard_kernel_objects ${regard_kernel_objects} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    regard_kernels(baseline 4)
    regard_kernels(slim 4 -mavx2 -mfma)
    regard_kernels(avx2 8 -mavx2 -mfma)
    regard_kernels(avx512 16 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma -mprefer-vector-width=512)
    regard_kernels(vnni 16 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512vnni -mavx2 -mfma -mprefer-vector-width=512)
    # The stand-in of AVX-512 is there to be tested, takes longest of all to compile and is a third of the library: only
    # the sanitized build of a machine without AVX-512 has it.
    if(CMAKE_C_FLAGS MATCHES "-fsanitize=" AND NOT runs_avx512)
        regard_kernels(wide 16 -mavx2 -mfma)
    else()
        set_source_files_properties(src/tensor/kernels.c src/tensor/int8.c src/tensor/optimise.c
                                    PROPERTIES COMPILE_DEFINITIONS RG_WITHOUT_WIDE)
    endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    regard_kernels(neon 4)
    include(CheckCCompilerFlag)
    check_c_compiler_flag(-march=armv8.2-a+dotprod has_neondot)
    if(has_neondot)
        regard_kernels(neondot 4 -march=armv8.2-a+dotprod)
        set_source_files_properties(src/tensor/int8.c PROPERTIES COMPILE_DEFINITIONS RG_NEONDOT)
    endif()
else()
    regard_kernels(baseline 4)
endif()
