# Writes a header with the current commit of SOURCE_DIR, unless the header is up to date.
cmake_minimum_required(VERSION 3.25)

set(commit "unknown")
find_package(Git QUIET)
if(Git_FOUND AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --quiet --verify --short=12 HEAD
    WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE answer RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed AND answer)
    set(commit "${answer}")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define KUBEXX_GIT_COMMIT \"@commit@\"\n" @ONLY)
