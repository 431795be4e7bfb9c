# kubexx_add_crds(<target> <file or folder>... [NAMESPACE <namespace>] [NO_ANNOTATIONS])
#
# Generates C++ types, clients and informers from CustomResourceDefinitions, and adds them to a target:
#
#   add_executable(operator main.cc)
#   target_link_libraries(operator PRIVATE kubexx::kubexx)
#   kubexx_add_crds(operator crds/network.yaml NAMESPACE acme)
#
# Include the code as "samplecrd/v1.h", "samplecrd/v1_client.h" and "samplecrd/v1_informers.h", or all types as "crds.h"
# and the rest as "crds_clients.h". When a file changes, the code is generated again, and the sources that the target has
# at the time of this call are compiled again. New files in a folder are found when CMake runs the next time.
#
# The installed command kubexx generates the code. KUBEXX_EXECUTABLE names another one, for example when
# cross-compiling.
function(kubexx_add_crds target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_ANNOTATIONS" "NAMESPACE" "")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "kubexx_add_crds: the target ${target} does not exist")
  endif()
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kubexx_add_crds(${target}): name at least one file or folder of definitions")
  endif()

  if(KUBEXX_EXECUTABLE)
    set(command "${KUBEXX_EXECUTABLE}")
    set(tool "${KUBEXX_EXECUTABLE}")
  elseif(TARGET kubexx::kubexx-cli)
    set(command kubexx::kubexx-cli)
    set(tool kubexx::kubexx-cli)
  else()
    find_program(KUBEXX_EXECUTABLE kubexx)
    if(NOT KUBEXX_EXECUTABLE)
      message(FATAL_ERROR "kubexx_add_crds(${target}): the command kubexx is not installed: install "
        "the component Tools of kubexx, or set KUBEXX_EXECUTABLE to its path")
    endif()
    set(command "${KUBEXX_EXECUTABLE}")
    set(tool "${KUBEXX_EXECUTABLE}")
  endif()

  set(files)
  set(dependencies)
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND files "${file}")
    if(IS_DIRECTORY "${file}")
      file(GLOB inside CONFIGURE_DEPENDS "${file}/*.yaml" "${file}/*.yml" "${file}/*.json")
      list(APPEND dependencies ${inside})
    else()
      list(APPEND dependencies "${file}")
    endif()
  endforeach()

  set(options)
  if(arg_NAMESPACE)
    list(APPEND options --namespace "${arg_NAMESPACE}")
  endif()
  if(arg_NO_ANNOTATIONS)
    list(APPEND options --no-annotations)
  endif()

  # The generated files depend on the definitions; crds.cc includes all of them. The build compares the time of a stamp:
  # crds.cc keeps its time if its content does not change.
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}-crds")
  add_custom_command(
    OUTPUT "${folder}/crds.stamp"
    BYPRODUCTS "${folder}/crds.cc"
    COMMAND ${command} gen --quiet --out "${folder}" ${options} ${files}
    COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/crds.stamp"
    DEPENDS ${tool} ${dependencies}
    COMMENT "Generating C++ from the custom resources of ${target}" VERBATIM)
  target_sources(${target} PRIVATE "${folder}/crds.cc" "${folder}/crds.stamp")
  set_source_files_properties("${folder}/crds.stamp" PROPERTIES HEADER_FILE_ONLY ON)
  # Ninja checks headers before it runs anything, and would notice new ones only in the next build.
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.(cc|cpp|cxx|C|c\\+\\+)$")
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${folder}/crds.stamp")
  # Targets that link a library can include its generated headers.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_include_directories(${target} PRIVATE "${folder}")
  else()
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${folder}>")
  endif()
endfunction()
