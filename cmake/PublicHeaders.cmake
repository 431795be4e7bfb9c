# Lists the headers that are installed: the public ones, which are those of kube/ outside of folders called `internal`,
# and the internal ones that these include, because templates and inline functions need them. kube/testing has the
# headers of kubexx::testing; kube/apiserver has no public headers. Headers that end in _testing.h are for tests alone.
#
# Paths are relative to `source_dir`.
function(kubexx_public_headers source_dir library_out testing_out)
  file(GLOB_RECURSE headers RELATIVE "${source_dir}" "${source_dir}/kube/*.h")
  list(FILTER headers EXCLUDE REGEX "(/internal/|^kube/apiserver/|_testing\\.h$)")
  set(testing ${headers})
  list(FILTER headers EXCLUDE REGEX "^kube/testing/")
  list(FILTER testing INCLUDE REGEX "^kube/testing/")
  kubexx_with_included("${source_dir}" library ${headers})
  kubexx_with_included("${source_dir}" all ${testing})
  list(REMOVE_ITEM all ${library})
  set(${library_out} "${library}" PARENT_SCOPE)
  set(${testing_out} "${all}" PARENT_SCOPE)
endfunction()

# The headers, and the headers of kube/ that they include, directly or not.
function(kubexx_with_included source_dir out)
  set(found "")
  set(left ${ARGN})
  while(left)
    list(POP_FRONT left header)
    if(DEFINED "seen_${header}")
      continue()
    endif()
    set("seen_${header}" ON)
    list(APPEND found "${header}")
    file(STRINGS "${source_dir}/${header}" included REGEX "^#include \"kube/")
    list(TRANSFORM included REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND left ${included})
  endwhile()
  list(SORT found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(kubexx_install_headers component)
  foreach(header IN LISTS ARGN)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}"
      COMPONENT ${component})
  endforeach()
endfunction()
