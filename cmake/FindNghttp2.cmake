# Finds nghttp2, which has no CMake package: the target Nghttp2::Nghttp2, and Nghttp2_VERSION.
find_path(NGHTTP2_INCLUDE_DIR nghttp2/nghttp2.h)
find_library(NGHTTP2_LIBRARY nghttp2)
mark_as_advanced(NGHTTP2_INCLUDE_DIR NGHTTP2_LIBRARY)

if(NGHTTP2_INCLUDE_DIR AND EXISTS "${NGHTTP2_INCLUDE_DIR}/nghttp2/nghttp2ver.h")
  file(STRINGS "${NGHTTP2_INCLUDE_DIR}/nghttp2/nghttp2ver.h" nghttp2_version_line
    REGEX "#define[ \t]+NGHTTP2_VERSION[ \t]")
  if(nghttp2_version_line MATCHES "\"([0-9.]+)")
    set(Nghttp2_VERSION "${CMAKE_MATCH_1}")
  endif()
  unset(nghttp2_version_line)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nghttp2 REQUIRED_VARS NGHTTP2_LIBRARY NGHTTP2_INCLUDE_DIR
  VERSION_VAR Nghttp2_VERSION)

# Floods of frames fill the memory of older versions (CVE-2023-44487, CVE-2024-28182), unless a distribution has fixed
# them.
if(Nghttp2_FOUND AND NOT Nghttp2_FIND_QUIETLY AND Nghttp2_VERSION VERSION_LESS 1.61)
  message(STATUS "nghttp2 ${Nghttp2_VERSION} is safe only with the fixes of a distribution: in Debian 12, "
    "those of 1.52.0-1+deb12u2 or later")
endif()

if(Nghttp2_FOUND AND NOT TARGET Nghttp2::Nghttp2)
  add_library(Nghttp2::Nghttp2 UNKNOWN IMPORTED)
  set_target_properties(Nghttp2::Nghttp2 PROPERTIES
    IMPORTED_LOCATION "${NGHTTP2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${NGHTTP2_INCLUDE_DIR}")
endif()
