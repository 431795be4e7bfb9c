# kubexx_harden(<target>): if KUBEXX_HARDEN is set, adds flags that make memory errors harder to exploit. It applies to
# kubexx' own objects and programs; programs of users are compiled with their own flags.
#
# A protected stack costs the codecs 2 to 15 % of their instructions (measured by callgrind), since they have many small
# functions; so kubexx-core has none. Every access there is checked, and fuzzed under the address sanitizer. The other
# flags cost the codecs nothing measurable. Not used because of their cost: _FORTIFY_SOURCE=3, _GLIBCXX_ASSERTIONS,
# -fstack-clash-protection, and marks for indirect branches (2 %, and no Linux checks them in programs).
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

if(KUBEXX_HARDEN)
  check_cxx_compiler_flag(-fstack-protector-strong KUBEXX_HAS_STACK_PROTECTOR)
  # Compilers of some distributions do this by default, and more.
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
  # Not without optimisation, where it only gives a warning. -U removes a definition by the compiler or other flags.
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
