# Writes the linker's version script with the symbols that libkubexx.so exports. ARCHIVE holds its code, USERS are objects
# that link with it (file,file,...), and SOURCE_DIR has the headers.
#
# Exported are the symbols of the namespace kube: functions, tables, type infos, and static variables of templates, which
# must exist once in a process. In kube::detail, only names that an installed header contains and functions that USERS
# call are exported. The rest of kube::detail is hidden, and so is all code of other libraries (fmt, Boost, simdjson, the
# standard library).
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/PublicHeaders.cmake")

execute_process(COMMAND "${NM}" --extern-only --defined-only --format=posix "${ARCHIVE}"
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "_Z(T[VISTWH]|Thn?[0-9]+_|Tv[^\n ]*_|GV|GR)?Z*N[KVrRO]*4kube[^\n ]*" symbols "${text}")
list(REMOVE_DUPLICATES symbols)

# --- The headers that a program may include, directly or not.
kubexx_public_headers("${SOURCE_DIR}" headers testing_headers)
set(named "")
foreach(header IN LISTS headers testing_headers)
  file(READ "${SOURCE_DIR}/${header}" content)
  string(APPEND named "${content}")
endforeach()

# --- The functions that USERS call.
string(REPLACE "," ";" USERS "${USERS}")
foreach(user IN LISTS USERS)
  execute_process(COMMAND "${NM}" --undefined-only --format=posix "${user}"
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "_Z[^\n ]*4kube6detail[^\n ]*" called "${text}")
  foreach(symbol IN LISTS called)
    set("called_${symbol}" ON)
  endforeach()
endforeach()

# --- In a symbol, a name in kube::detail is its length and the name.
set(shown "")
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES "4kube6detail([0-9]+)(.*)$")
    set(length "${CMAKE_MATCH_1}")
    string(SUBSTRING "${CMAKE_MATCH_2}" 0 ${length} name)
    if(symbol MATCHES "^_Z(T[VISTWH]|Thn?[0-9]+_|Tv[^ ]*_|GV|GR)?Z*N[KVrRO]*4kube6detail")
      if(NOT DEFINED "shows_${name}")
        string(FIND "${named}" "${name}" at)
        set("shows_${name}" ${at})
      endif()
      if("${shows_${name}}" EQUAL -1 AND NOT DEFINED "called_${symbol}")
        continue()
      endif()
    endif()
  endif()
  string(APPEND shown "    ${symbol};\n")
endforeach()
if(NOT shown)
  message(FATAL_ERROR "${ARCHIVE} has no symbols of the namespace kube")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY
  CONTENT "KUBEXX_@VERSION@ {\n  global:\n@shown@  local: *;\n};\n")
