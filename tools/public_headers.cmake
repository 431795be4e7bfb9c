# cmake -P tools/public_headers.cmake: prints the installed headers, one on a line.
cmake_minimum_required(VERSION 3.25)
cmake_path(SET top NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/..")
include("${top}/cmake/PublicHeaders.cmake")
kubexx_public_headers("${top}" library testing)
list(APPEND library ${testing})
list(JOIN library "\n" text)
execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${text}")
