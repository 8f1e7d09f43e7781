# Release hardening, each flag only where the compiler accepts it. Optimised builds only:
# FORTIFY needs optimisation, and sanitizers do not go with it.
include(CheckCCompilerFlag)

function(sbox_harden flag)
    string(MAKE_C_IDENTIFIER "HAVE${flag}" name)
    check_c_compiler_flag(${flag} ${name})
    if(${name})
        target_compile_options(sbox_flags INTERFACE $<$<CONFIG:Release>:${flag}>)
    endif()
endfunction()

if(NOT SBOX_SANITIZE)
    target_compile_options(sbox_flags INTERFACE
        $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=3>)
    sbox_harden(-fstack-protector-strong)
    sbox_harden(-fstack-clash-protection)
    sbox_harden(-ftrivial-auto-var-init=zero)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        sbox_harden(-fcf-protection=full)
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
        sbox_harden(-mbranch-protection=standard)
    endif()
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
target_link_options(sbox_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed)
