# Writes the linker's list of what libkubexx.so shows. ARCHIVE is what it is made of, SOURCE_DIR has the headers.
#
# Shown is what is in the namespace kube: functions, tables, type infos, and static variables of templates, of which a
# process is to have one. Of kube::detail, only what is named in a header that a program may come to include: one that
# declares something outside of detail, or one that such a header includes. Hidden are the rest of kube::detail, and
# all that is compiled in of other libraries (fmt, Boost, simdjson, the standard library).
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${NM}" --extern-only --defined-only --format=posix "${ARCHIVE}"
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "_Z(T[VISTWH]|Thn?[0-9]+_|Tv[^\n ]*_|GV|GR)?Z*N[KVrRO]*4kube[^\n ]*" symbols "${text}")
list(REMOVE_DUPLICATES symbols)

# --- The headers that a program may come to include.
file(GLOB_RECURSE all RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/kube/*.h")
list(FILTER all EXCLUDE REGEX "_test\\.h$")
set(headers "kube/kube.h")
foreach(header IN LISTS all)
  file(STRINGS "${SOURCE_DIR}/${header}" opening REGEX "^namespace kube(::[a-z0-9_]+)* \\{")
  list(FILTER opening EXCLUDE REGEX "::detail \\{")
  if(opening)
    list(APPEND headers "${header}")
  endif()
endforeach()
set(named "")
while(headers)
  list(POP_FRONT headers header)
  if(DEFINED "seen_${header}")
    continue()
  endif()
  set("seen_${header}" ON)
  file(READ "${SOURCE_DIR}/${header}" content)
  string(APPEND named "${content}")
  string(REGEX MATCHALL "#include \"kube/[^\"]+" included "${content}")
  list(TRANSFORM included REPLACE "#include \"" "")
  list(APPEND headers ${included})
endwhile()

# --- A name in kube::detail is the length and the name, in a symbol.
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
      if("${shows_${name}}" EQUAL -1)
        continue()
      endif()
    endif()
  endif()
  string(APPEND shown "    ${symbol};\n")
endforeach()
if(NOT shown)
  message(FATAL_ERROR "there is nothing of the namespace kube in ${ARCHIVE}")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY
  CONTENT "KUBEXX_@VERSION@ {\n  global:\n@shown@  local: *;\n};\n")
