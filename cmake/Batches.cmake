# Many small sources include the same headers, and reading these is most of what compiling them takes. So
# sources of one folder are compiled a few at a time, as one. Which of them go together depends on their
# names alone: a new file does not move the others. Two files of a folder may so not give different things the
# same name, anonymous namespaces or not; the compiler says where they do.

option(KUBEXX_BATCHES "Compile sources a few at a time: a full build takes a third, one changed file longer" ON)
set(KUBEXX_BATCH_SIZE 24)

# kubexx_batches(<out> <target> <source>...): what to compile instead of these sources of the target.
function(kubexx_batches out target)
  if(NOT KUBEXX_BATCHES)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(folders "")
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders "${folder}")
    list(APPEND "of${folder}" "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)

  set(files "")
  foreach(folder IN LISTS folders)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    list(LENGTH "of${folder}" count)
    math(EXPR batches "(${count} + ${KUBEXX_BATCH_SIZE} - 1) / ${KUBEXX_BATCH_SIZE}")
    foreach(source IN LISTS "of${folder}")
      cmake_path(GET source FILENAME name)
      string(MD5 hash "${name}")
      string(SUBSTRING "${hash}" 0 6 hash)
      math(EXPR batch "0x${hash} % ${batches}")
      # By a path below the top folder: a clone elsewhere is the same to ccache.
      string(APPEND "text/${path}/${batch}" "#include \"${path}/${name}\"\n")
      set(file "${CMAKE_CURRENT_BINARY_DIR}/batches/${target}/${path}/${batch}.cc")
      if(NOT file IN_LIST files)
        list(APPEND files "${file}")
        set("text_of${file}" "text/${path}/${batch}")
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
