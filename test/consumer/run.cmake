# run.cmake: builds and runs projects that use kubexx. HOW is one of:
#
#   installed    find_package finds the library of KUBEXX_BUILD_DIR, which is installed for that
#   shared       the same with libkubexx.so, from a second build that links the archives of KUBEXX_BUILD_DIR
#   subproject   test/consumer/subproject has kubexx as a part, by add_subdirectory and by FetchContent, with the same
#                archives
cmake_minimum_required(VERSION 3.25)
set(work "${KUBEXX_BUILD_DIR}/consumer-${HOW}")
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "failed: ${failed}")
  endif()
endfunction()

# configure(<source> <build> <option>...)
function(configure source build)
  run("${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${COMPILER_LAUNCHER}" ${ARGN})
endfunction()

# Lists the symbols that a library exports, as mangled names.
function(shown_by file out)
  execute_process(COMMAND "${NM}" --dynamic --defined-only "${file}" OUTPUT_VARIABLE text
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n" ";" lines "${text}")
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()
function(expect_hidden file pattern)
  shown_by("${file}" lines)
  list(FILTER lines INCLUDE REGEX "${pattern}")
  if(lines)
    list(SUBLIST lines 0 10 lines)
    list(JOIN lines "\n" lines)
    message(FATAL_ERROR "${file} exports symbols that should be hidden:\n${lines}")
  endif()
endfunction()
function(expect_shown file pattern)
  shown_by("${file}" lines)
  list(FILTER lines INCLUDE REGEX "${pattern}")
  if(NOT lines)
    message(FATAL_ERROR "${file} exports no symbol ${pattern}")
  endif()
endfunction()

# Checks the hardening that cmake/Harden.cmake promises for programs and shared libraries.
function(expect_hardened file)
  if(NOT HARDEN)
    return()
  endif()
  execute_process(COMMAND "${READELF}" --wide --file-header --program-headers --dynamic --dyn-syms "${file}"
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  foreach(sign IN ITEMS "Type: +DYN" "GNU_RELRO" "BIND_NOW" "GNU_STACK [^\n]* RW " "__stack_chk_fail" "__[a-z]+_chk@")
    if(NOT text MATCHES "${sign}")
      message(FATAL_ERROR "${file} is not hardened: readelf shows no ${sign}")
    endif()
  endforeach()
endfunction()

# Checks that a program that links kubexx::kubexx alone needs no RE2.
function(expect_without_re2 file)
  execute_process(COMMAND "${READELF}" --wide --dynamic "${file}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(text MATCHES "libre2")
    message(FATAL_ERROR "${file} needs RE2")
  endif()
endfunction()

if(HOW STREQUAL "subproject")
  configure("${CONSUMER_SOURCE_DIR}/subproject" "${work}/subdirectory" "-DKUBEXX_PREBUILT=${KUBEXX_BUILD_DIR}"
    "-DSHOP_KUBEXX_FOLDER=${KUBEXX_SOURCE_DIR}")
  configure("${CONSUMER_SOURCE_DIR}/subproject" "${work}/fetched" "-DKUBEXX_PREBUILT=${KUBEXX_BUILD_DIR}"
    "-DFETCHCONTENT_SOURCE_DIR_KUBEXX=${KUBEXX_SOURCE_DIR}")
  configure("${CONSUMER_SOURCE_DIR}/subproject" "${work}/without-re2" "-DKUBEXX_PREBUILT=${KUBEXX_BUILD_DIR}"
    "-DSHOP_KUBEXX_FOLDER=${KUBEXX_SOURCE_DIR}" -DSHOP_RE2=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Re2=ON)
  run("${CMAKE_COMMAND}" --build "${work}/without-re2")
  run("${work}/without-re2/shop")
  expect_without_re2("${work}/without-re2/shop")
  foreach(way IN ITEMS subdirectory fetched)
    run("${CMAKE_COMMAND}" --build "${work}/${way}")
    run("${work}/${way}/shop")
    run("${work}/${way}/shop-test")
    # The command line, which generates code, is the only program of kubexx that was built.
    file(GLOB_RECURSE programs "${work}/${way}/*/kubexx" "${work}/${way}/*/kubexx-*" "${work}/${way}/*/network-*")
    list(FILTER programs EXCLUDE REGEX "\\.dir|/batches/|\\.(cmake|txt|o)$")
    list(LENGTH programs count)
    if(NOT count EQUAL 1)
      message(FATAL_ERROR "expected the command line alone, but these programs were built: ${programs}")
    endif()
  endforeach()
  return()
endif()

if(HOW STREQUAL "shared")
  configure("${KUBEXX_SOURCE_DIR}" "${work}/library" -DBUILD_SHARED_LIBS=ON "-DKUBEXX_PREBUILT=${KUBEXX_BUILD_DIR}"
    -DBUILD_TESTING=OFF -DKUBEXX_BUILD_TOOLS=OFF)
  run("${CMAKE_COMMAND}" --build "${work}/library")
  foreach(component IN ITEMS Development Testing)
    run("${CMAKE_COMMAND}" --install "${work}/library" --prefix "${prefix}" --component ${component})
  endforeach()
  configure("${CONSUMER_SOURCE_DIR}" "${work}/build" "-DCMAKE_PREFIX_PATH=${prefix}" -DCONSUMER_OPERATOR=OFF)

  file(GLOB_RECURSE library "${prefix}/libkubexx.so.*.*.*")
  list(FILTER library EXCLUDE REGEX "\\.py$")
  expect_hardened("${library}")
  expect_shown("${library}" " _ZN4kube10decodeJsonE")
  expect_shown("${library}" " _ZTIN4kube5ErrorE")
  expect_shown("${library}" " _ZN4kube6detail13allocateBlockE")  # called by templates in headers
  expect_hidden("${library}" " _ZN[KVrRO]*4kube6detail(11JsonEncoder|11JsonDecoder|10YamlReader|13threadShelves)")
  expect_hidden("${library}" " _ZN[KVrRO]*(St|2re|3fmt|4YAML|5boost|8simdjson)")
else()
  # The library without kubexx::testing, on a machine without RE2.
  run("${CMAKE_COMMAND}" --install "${KUBEXX_BUILD_DIR}" --prefix "${work}/alone" --component Development)
  foreach(folder IN ITEMS testing apiserver)
    if(EXISTS "${work}/alone/include/kube/${folder}")
      message(FATAL_ERROR "the component Development has headers of kube/${folder}")
    endif()
  endforeach()
  configure("${CONSUMER_SOURCE_DIR}" "${work}/build-alone" "-DCMAKE_PREFIX_PATH=${work}/alone"
    -DCONSUMER_OPERATOR=OFF -DCONSUMER_TESTING=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Re2=ON)
  run("${CMAKE_COMMAND}" --build "${work}/build-alone" --target consumer)
  run("${work}/build-alone/consumer")
  expect_without_re2("${work}/build-alone/consumer")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CONSUMER_SOURCE_DIR}" -B "${work}/build-refused" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${work}/alone" -DCONSUMER_OPERATOR=OFF
    RESULT_VARIABLE refused OUTPUT_QUIET ERROR_VARIABLE text)
  if(NOT refused OR NOT text MATCHES "installed without kubexx::testing")
    message(FATAL_ERROR "find_package for a component that is not installed has the wrong message: ${text}")
  endif()

  foreach(component IN ITEMS Development Testing Tools)
    run("${CMAKE_COMMAND}" --install "${KUBEXX_BUILD_DIR}" --prefix "${prefix}" --component ${component})
  endforeach()
  configure("${CONSUMER_SOURCE_DIR}" "${work}/build" "-DCMAKE_PREFIX_PATH=${prefix}")
endif()

run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer")
if(EXISTS "${work}/build/consumer-asio")  # needs Boost
  run("${work}/build/consumer-asio")
endif()
run("${work}/build/served")
expect_without_re2("${work}/build/consumer")
run("${work}/build/load-plugin" "${work}/build/libplugin.so")
expect_shown("${work}/build/libplugin.so" " pluginRun")
expect_hidden("${work}/build/libplugin.so" "4kube")
if(HOW STREQUAL "installed")
  run("${work}/build/operator")
  expect_hardened("${prefix}/bin/kubexx")
endif()
