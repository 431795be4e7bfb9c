# Installs the library of KUBEXX_BUILD_DIR beside it, then configures, builds and runs the project
# in CONSUMER_SOURCE_DIR against what was installed.
set(work "${KUBEXX_BUILD_DIR}/consumer")
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "failed: ${failed}")
  endif()
endfunction()

foreach(component IN ITEMS Development Tools)
  run("${CMAKE_COMMAND}" --install "${KUBEXX_BUILD_DIR}" --prefix "${prefix}" --component ${component})
endforeach()
run("${CMAKE_COMMAND}" -S "${CONSUMER_SOURCE_DIR}" -B "${work}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${COMPILER_LAUNCHER}")
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer")
run("${work}/build/operator")
