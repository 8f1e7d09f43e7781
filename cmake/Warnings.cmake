# One interface target that every own target links: language level, warnings, sanitizers.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)

add_library(sbox_flags INTERFACE)
target_compile_definitions(sbox_flags INTERFACE _GNU_SOURCE SBOX_VERSION="${PROJECT_VERSION}")
target_include_directories(sbox_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(sbox_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wformat=2 -Wvla -Wstrict-prototypes
    -Wmissing-prototypes -Wcast-qual -Wwrite-strings -Wnull-dereference -Wswitch-enum
    -Wimplicit-fallthrough -Wundef -fno-strict-aliasing -fno-common)
if(SBOX_WERROR)
    target_compile_options(sbox_flags INTERFACE -Werror)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    target_compile_options(sbox_flags INTERFACE -Wno-gnu-zero-variadic-macro-arguments)
endif()
if(SBOX_SANITIZE)
    target_compile_options(sbox_flags INTERFACE -fsanitize=${SBOX_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    target_link_options(sbox_flags INTERFACE -fsanitize=${SBOX_SANITIZE})
    # gcc's -Wnull-dereference sees paths that only the instrumentation makes.
    target_compile_options(sbox_flags INTERFACE -Wno-null-dereference
        $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(SBOX_FUZZ)
    target_compile_options(sbox_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(SBOX_COVERAGE)
    target_compile_options(sbox_flags INTERFACE --coverage)
    target_link_options(sbox_flags INTERFACE --coverage)
endif()
if(SBOX_ANALYZE)
    # clang-tidy reads the clang preset's compile commands instead (.ci/run): it knows no -fanalyzer.
    # gcc 12 loses sight of pointers that are stored in arrays and structs, and calls them leaked;
    # leaks are LeakSanitizer's (asan preset), which has seen every test.
    target_compile_options(sbox_flags INTERFACE -fanalyzer -Wno-analyzer-malloc-leak)
endif()
