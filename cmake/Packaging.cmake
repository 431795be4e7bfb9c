# What packages hold besides what CMake needs: a pkg-config file, manual pages, and, for `cpack -G DEB`, two
# Debian packages: libkubexx-dev (the component Development) and kubexx (Tools). `./dev package` builds and
# tries them; packaging/ has recipes for Conan, vcpkg and an image.

# --- pkg-config. Paths are relative to the file, so that an installed tree may be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/kubexx.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/kubexx.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kubexx.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT Development)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# --- Debian's files: who wrote it, what changed, manual pages.
set(KUBEXX_PACKAGE_CONTACT "The kubexx authors <kubexx@users.noreply.github.com>" CACHE STRING
    "The maintainer that Debian packages name")
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or $SOURCE_DATE_EPOCH
set(debian_dir "${CMAKE_CURRENT_BINARY_DIR}/debian")
configure_file("${PROJECT_SOURCE_DIR}/packaging/debian/changelog.in" "${debian_dir}/changelog" @ONLY)
find_program(GZIP_PROGRAM gzip)
mark_as_advanced(GZIP_PROGRAM)

function(kubexx_compress in out)
  if(GZIP_PROGRAM)
    execute_process(COMMAND "${GZIP_PROGRAM}" -9nc "${in}" OUTPUT_FILE "${out}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()
kubexx_compress("${debian_dir}/changelog" "${debian_dir}/changelog.gz")

foreach(package IN ITEMS libkubexx-dev:Development kubexx:Tools)
  string(REGEX REPLACE "^(.*):(.*)$" "\\1;\\2" package "${package}")
  list(POP_FRONT package name)
  if(package STREQUAL "Tools" AND NOT KUBEXX_BUILD_TOOLS)
    continue()
  endif()
  set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}")
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/debian/copyright" DESTINATION "${doc_dir}"
    COMPONENT ${package})
  install(FILES "${debian_dir}/changelog.gz" DESTINATION "${doc_dir}" COMPONENT ${package} OPTIONAL)
endforeach()

if(KUBEXX_BUILD_TOOLS)
  foreach(page IN ITEMS kubexx kubexx-codegen)
    kubexx_compress("${PROJECT_SOURCE_DIR}/packaging/${page}.1" "${CMAKE_CURRENT_BINARY_DIR}/${page}.1.gz")
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${page}.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
      COMPONENT Tools OPTIONAL)
  endforeach()
endif()

# --- CPack.
set(CPACK_PACKAGE_NAME kubexx)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each component has its own as the first line
set(CPACK_PACKAGE_CONTACT "${KUBEXX_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL Development)
if(KUBEXX_BUILD_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL Tools)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkubexx-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS kubexx)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libfmt-dev, libsimdjson-dev, libyaml-cpp-dev, libssl-dev, libnghttp2-dev, zlib1g-dev, libre2-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"Kubernetes client library for C++ - development files
Typed, dynamic and metadata clients, informers, work queues, controllers,
codecs for JSON, YAML and protobuf, and an API server for tests.

This package has the static library, its headers, and files for CMake and
pkg-config.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME kubexx)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
"Kubernetes client library for C++ - command line
Shows and changes what is in a cluster, serves an API server in memory,
converts manifests, and generates C++ from CustomResourceDefinitions.")
include(CPack)
