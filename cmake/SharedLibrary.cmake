# libkubexx.so, made of the archive kubexx-inside. cmake/Exports.cmake lists its exported symbols when it is linked: the
# API, and functions that inline functions in headers call. All others, and those of other libraries, are hidden.
#
# kubexx::testing is an archive that links with it. The internal functions that it calls are exported, too.
#
# The name of the library has the whole version: every version has an ABI of its own.
set(exports "${CMAKE_CURRENT_BINARY_DIR}/kubexx.exports")
set(nothing "${CMAKE_CURRENT_BINARY_DIR}/nothing.cc")
file(CONFIGURE OUTPUT "${nothing}" CONTENT "" @ONLY)
file(GLOB_RECURSE export_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kube/*.h")
add_custom_command(
  OUTPUT "${exports}"
  COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DARCHIVE=$<TARGET_FILE:kubexx-inside>"
          "-DUSERS=${testing_object_files}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}" "-DOUTPUT=${exports}"
          -P "${PROJECT_SOURCE_DIR}/cmake/Exports.cmake"
  DEPENDS kubexx-inside "$<TARGET_FILE:kubexx-inside>" ${testing_objects} "${PROJECT_SOURCE_DIR}/cmake/PublicHeaders.cmake"
          "${PROJECT_SOURCE_DIR}/cmake/Exports.cmake" ${export_headers}
  COMMENT "Listing the symbols that libkubexx.so exports" VERBATIM)
add_library(kubexx SHARED "${nothing}" "${exports}")
kubexx_target_defaults(kubexx)
kubexx_library(kubexx PUBLIC PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,kubexx-inside>")
set_target_properties(kubexx PROPERTIES VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION}")
set_property(TARGET kubexx APPEND PROPERTY LINK_DEPENDS "${exports}")
target_link_options(kubexx PRIVATE "LINKER:--version-script=${exports}" "LINKER:--no-undefined")
