# Installs pkg-config files, the manual page and shell completions, and defines three Debian packages for `cpack -G DEB`:
# libkubexx-dev (the component Development), libkubexx-testing-dev (Testing) and kubexx (Tools). `./dev package` builds
# and tries them; packaging/ has recipes for Conan, vcpkg and an image.

# --- pkg-config. Paths are relative to the file, so that an installed tree may be moved; except for /usr, whose folders
# pkg-config knows and omits from the flags.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR
   IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
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
set(pc_requires "fmt simdjson yaml-cpp openssl libnghttp2 zlib")
set(pc_requires_private "")
if(BUILD_SHARED_LIBS)
  set(pc_requires "fmt")
  set(pc_requires_private "simdjson yaml-cpp openssl libnghttp2 zlib")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/kubexx.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/kubexx.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kubexx.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT Development)
if(KUBEXX_TESTING)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/kubexx-testing.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/kubexx-testing.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kubexx-testing.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT Testing)
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# --- Debian's files: copyright, changelog, manual page.
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

foreach(package IN ITEMS libkubexx-dev:Development libkubexx-testing-dev:Testing kubexx:Tools)
  string(REGEX REPLACE "^(.*):(.*)$" "\\1;\\2" package "${package}")
  list(POP_FRONT package name)
  if((package STREQUAL "Tools" AND NOT KUBEXX_BUILD_TOOLS) OR (package STREQUAL "Testing" AND NOT KUBEXX_TESTING))
    continue()
  endif()
  set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}")
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/debian/copyright" DESTINATION "${doc_dir}"
    COMPONENT ${package})
  install(FILES "${debian_dir}/changelog.gz" DESTINATION "${doc_dir}" COMPONENT ${package} OPTIONAL)
endforeach()

if(KUBEXX_BUILD_TOOLS)
  kubexx_compress("${PROJECT_SOURCE_DIR}/packaging/kubexx.1" "${CMAKE_CURRENT_BINARY_DIR}/kubexx.1.gz")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/kubexx.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT Tools OPTIONAL)
  # Completions, in the folders of the shells.
  if(NOT CMAKE_CROSSCOMPILING)
    install(CODE "set(share \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\")"
      COMPONENT Tools)
    install(CODE [[
      function(completion shell file)
        execute_process(COMMAND "$<TARGET_FILE:kubexx-cli>" completion ${shell}
          OUTPUT_FILE "${CMAKE_CURRENT_LIST_DIR}/completion" COMMAND_ERROR_IS_FATAL ANY)
        cmake_path(GET file PARENT_PATH folder)
        cmake_path(GET file FILENAME name)
        file(INSTALL DESTINATION "${folder}" TYPE FILE RENAME "${name}"
          FILES "${CMAKE_CURRENT_LIST_DIR}/completion")
      endfunction()
      completion(bash "${share}/bash-completion/completions/kubexx")
      completion(zsh "${share}/zsh/vendor-completions/_kubexx")
      completion(fish "${share}/fish/vendor_completions.d/kubexx.fish")
    ]] COMPONENT Tools)
  endif()
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
if(KUBEXX_TESTING)
  list(APPEND CPACK_COMPONENTS_ALL Testing)
endif()
if(KUBEXX_BUILD_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL Tools)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkubexx-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# kubexx_add_crds runs the command, which generates code for the headers of the same version.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "kubexx (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake (>= 3.25) | pkg-config, libboost-dev, g++ (>= 4:12) | clang (>= 1:14)")
# The archive links only with the series of the C++ libraries with which it was compiled.
set(same_series)
foreach(library IN ITEMS fmt simdjson yaml-cpp)
  if(${library}_VERSION MATCHES "^([0-9]+)\\.([0-9]+)")
    math(EXPR next "${CMAKE_MATCH_2} + 1")
    string(APPEND same_series "lib${library}-dev (>= ${CMAKE_MATCH_0}), "
                              "lib${library}-dev (<< ${CMAKE_MATCH_1}.${next}~), ")
  else()
    string(APPEND same_series "lib${library}-dev, ")
  endif()
endforeach()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${same_series}libssl-dev (>= 3.0), libnghttp2-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"Kubernetes client library for C++ - development files
Typed, dynamic and metadata clients, informers, work queues, controllers,
codecs for JSON, YAML and protobuf.

This package has the static library, its headers, and files for CMake and
pkg-config.")
set(CPACK_DEBIAN_TESTING_PACKAGE_NAME libkubexx-testing-dev)
set(CPACK_DEBIAN_TESTING_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TESTING_PACKAGE_DEPENDS "libkubexx-dev (= ${PROJECT_VERSION}), libre2-dev, libssl-dev (>= 3.0), zlib1g-dev")
set(CPACK_COMPONENT_TESTING_DESCRIPTION
"Kubernetes client library for C++ - API server for tests
An API server that runs in the process of a test, with injected faults,
users, and containers with scripted logs and programs.

This package has the static library of kubexx::testing and its headers.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME kubexx)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS ca-certificates)  # for clusters with certificates of a public authority
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
"Kubernetes client library for C++ - command line
Shows and changes objects of a cluster, serves an API server in memory,
converts manifests, and generates C++ from CustomResourceDefinitions.")
include(CPack)
