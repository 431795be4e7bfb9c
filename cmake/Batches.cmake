# Many small sources include the same headers, and reading these is most of what compiling them takes. So
# sources of one folder are compiled a few at a time, as one. Which of them go together depends on their
# names alone: a new file does not move the others. Two files of a folder may so not give different things the
# same name, anonymous namespaces or not; the compiler says where they do.

option(KUBEXX_BATCHES "Compile sources a few at a time: a full build takes a third, one changed file longer" ON)
set(KUBEXX_BATCH_SIZE 24)
if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")
  set(KUBEXX_BATCH_SIZE 64)  # hardly optimised: reading headers is even more of it
endif()

# kubexx_batches(<out> <target> <source>...): what to compile instead of these sources of the target.
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
      # Its folders have a file or two each, in namespaces of their own. Users' programs are to have
      # only those that they use.
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
      # By a path below the top folder: a clone elsewhere is the same to ccache.
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
  # What a batch has of its own is not the main file's to g++, though it is.
  set_source_files_properties(${files} PROPERTIES
    COMPILE_OPTIONS "-I${PROJECT_SOURCE_DIR};$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
  set(${out} ${files} PARENT_SCOPE)
endfunction()
