# kubexx_harden(<target>): what makes memory errors harder to use against a program, where KUBEXX_HARDEN says so. It
# is for kubexx' own objects and programs; a user's are compiled with what the user says.
#
# A protected stack costs the codecs 2 to 15 % of their instructions (measured by callgrind), since their functions are
# small and many; so kubexx-core has none. Every access there is checked, and fuzzed under the address sanitizer. The
# rest costs the codecs nothing that can be measured. Left out for what they cost: _FORTIFY_SOURCE=3, _GLIBCXX_ASSERTIONS,
# -fstack-clash-protection, and marks for indirect branches (2 %, and no Linux looks at them in programs).
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

if(KUBEXX_HARDEN)
  check_cxx_compiler_flag(-fstack-protector-strong KUBEXX_HAS_STACK_PROTECTOR)
  # Some distributions' compilers do this, and more of it, unasked.
  check_cxx_source_compiles("#ifndef __CET__\n#error\n#endif\nint main() {}" KUBEXX_CF_PROTECTION_IS_DEFAULT)
  check_cxx_compiler_flag(-fcf-protection=return KUBEXX_HAS_CF_PROTECTION)
  check_linker_flag(CXX "LINKER:-z,relro,-z,now" KUBEXX_HAS_RELRO)
  check_linker_flag(CXX "LINKER:-z,noexecstack" KUBEXX_HAS_NOEXECSTACK)
endif()

function(kubexx_harden target)
  if(NOT KUBEXX_HARDEN OR CMAKE_BUILD_TYPE STREQUAL "Sanitize")
    return()
  endif()
  if(KUBEXX_HAS_STACK_PROTECTOR AND NOT target STREQUAL "kubexx-core")
    target_compile_options(${target} PRIVATE -fstack-protector-strong)
  endif()
  if(KUBEXX_HAS_CF_PROTECTION AND NOT KUBEXX_CF_PROTECTION_IS_DEFAULT)
    target_compile_options(${target} PRIVATE -fcf-protection=return)
  endif()
  # Means nothing, but a warning, without optimisation. What the compiler or the flags define goes first.
  target_compile_options(${target} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    return()
  endif()
  if(KUBEXX_HAS_RELRO)
    target_link_options(${target} PRIVATE "LINKER:-z,relro,-z,now")
  endif()
  if(KUBEXX_HAS_NOEXECSTACK)
    target_link_options(${target} PRIVATE "LINKER:-z,noexecstack")
  endif()
endfunction()
