# Compiles the sources of a folder in batches, each as one file: many small sources include the same headers, and reading
# these takes most of the compiler's time. The name of a source alone selects its batch, so a new file does not move
# others. Because of batches, names in a folder must be unique, even in anonymous namespaces; the compiler reports
# duplicates.

option(KUBEXX_BATCHES "Compile sources in batches: a full build takes a third of the time, a changed file longer" ON)
set(KUBEXX_BATCH_SIZE 24)
if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")
  set(KUBEXX_BATCH_SIZE 64)  # with little optimisation, reading headers is an even larger part
endif()

# kubexx_batches(<out> <target> <source>...): sets `out` to the batches to compile instead of the target's sources.
function(kubexx_batches out target)
  if(NOT KUBEXX_BATCHES)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(folders "")
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    if(folder MATCHES "^kube/api/" AND CMAKE_BUILD_TYPE STREQUAL "Sanitize")
      # These folders have one or two files each, in namespaces of their own. Only the sanitizers' build joins them:
      # programs of users should link only the folders that they use.
      set(folder kube/api)
    endif()
    list(APPEND folders "${folder}")
    list(APPEND "of/${folder}" "${path}")
  endforeach()
  list(REMOVE_DUPLICATES folders)

  set(files "")
  foreach(folder IN LISTS folders)
    list(LENGTH "of/${folder}" count)
    math(EXPR batches "(${count} + ${KUBEXX_BATCH_SIZE} - 1) / ${KUBEXX_BATCH_SIZE}")
    foreach(path IN LISTS "of/${folder}")
      string(MD5 hash "${path}")
      string(SUBSTRING "${hash}" 0 6 hash)
      math(EXPR batch "0x${hash} % ${batches}")
      # A path relative to the top folder, so that ccache finds the results of another clone.
      string(APPEND "text/${folder}/${batch}" "#include \"${path}\"\n")
      set(file "${CMAKE_CURRENT_BINARY_DIR}/batches/${target}/${folder}/${batch}.cc")
      if(NOT file IN_LIST files)
        list(APPEND files "${file}")
        set("text_of${file}" "text/${folder}/${batch}")
      endif()
    endforeach()
  endforeach()
  foreach(file IN LISTS files)
    file(CONFIGURE OUTPUT "${file}" CONTENT "${${text_of${file}}}" @ONLY)
  endforeach()
  # g++ takes names in an included source for names of a header, and warns about their linkage.
  set_source_files_properties(${files} PROPERTIES
    COMPILE_OPTIONS "-I${PROJECT_SOURCE_DIR};$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
  set(${out} ${files} PARENT_SCOPE)
endfunction()
