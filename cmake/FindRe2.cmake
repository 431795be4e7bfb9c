# Finds RE2: the target Re2::Re2. Newer versions have a CMake package, which is used if it exists, because these versions
# also need Abseil.
if(NOT TARGET re2::re2)
  find_package(re2 CONFIG QUIET)
endif()
if(TARGET re2::re2)
  set(RE2_LIBRARY re2::re2)
else()
  find_path(RE2_INCLUDE_DIR re2/re2.h)
  find_library(RE2_LIBRARY re2)
  mark_as_advanced(RE2_INCLUDE_DIR RE2_LIBRARY)
endif()

include(FindPackageHandleStandardArgs)
if(TARGET re2::re2)
  find_package_handle_standard_args(Re2 REQUIRED_VARS RE2_LIBRARY)
else()
  find_package_handle_standard_args(Re2 REQUIRED_VARS RE2_LIBRARY RE2_INCLUDE_DIR)
endif()

if(Re2_FOUND AND NOT TARGET Re2::Re2)
  if(TARGET re2::re2)
    add_library(Re2::Re2 INTERFACE IMPORTED)
    target_link_libraries(Re2::Re2 INTERFACE re2::re2)
  else()
    add_library(Re2::Re2 UNKNOWN IMPORTED)
    set_target_properties(Re2::Re2 PROPERTIES
      IMPORTED_LOCATION "${RE2_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE_DIR}")
  endif()
endif()
