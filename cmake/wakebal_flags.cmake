# Compiler flags of every target, in one interface library: wb_flags.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Release keeps its checks (WB_CHECK) and its symbols; NDEBUG is never set.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(wb_flags INTERFACE)
target_compile_definitions(wb_flags INTERFACE _GNU_SOURCE $<$<BOOL:${WB_DEBUG}>:WB_DEBUG>)
target_compile_options(wb_flags INTERFACE
    -ffp-contract=off
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wvla
    # No frame that a small stack (ulimit -s 64, a thread's) would not hold; sanitizers make frames larger.
    $<$<NOT:$<OR:$<BOOL:${WB_ASAN}>,$<BOOL:${WB_FUZZ}>,$<BOOL:$<TARGET_PROPERTY:WB_IS_TEST>>>>:-Wframe-larger-than=24576>
    $<$<BOOL:${WB_WERROR}>:-Werror>)

# What is cleared on the way of an event is some dozens of bytes: rep stos takes longer to begin than stores take.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(wb_flags INTERFACE -mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign)
endif()

if(WB_ASAN)
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(wb_flags INTERFACE ${sanitize})
    target_link_options(wb_flags INTERFACE ${sanitize})
endif()
if(WB_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "WB_FUZZ needs clang: cmake --preset fuzz")
    endif()
    target_compile_options(wb_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The program is linked as a whole (a quarter faster: charges, lines and flushes inline across folders). Objects are fat, so that tests
# link without it.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT WB_ASAN)
    set(WB_LTO ON)
    target_compile_options(wb_flags INTERFACE -flto -ffat-lto-objects)
endif()
