# tessera_version(TARGET): makes the project's version and the commit it is built from part of
# TARGET (declared in sim/report/version.h). Each build finds them anew, by a script (cmake -P): the
# commit, "-dirty" if tracked files differ from it, "unknown" without git.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(SET CMP0053 NEW)  # @NAME@ is left to file(CONFIGURE)
  set(commit unknown)
  if(GIT)
    execute_process(COMMAND ${GIT} describe --always --abbrev=12 --exclude * --dirty
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE described
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(commit ${described})
    endif()
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#include \"sim/report/version.h\"

namespace tessera::report {

const std::string_view kVersion = \"@VERSION@\";
const std::string_view kCommit = \"@commit@\";

}  // namespace tessera::report
")
  return()
endif()

function(tessera_version TARGET)
  find_package(Git QUIET)
  set(output ${PROJECT_BINARY_DIR}/generated/version.cpp)
  add_custom_target(tessera_commit BYPRODUCTS ${output}
    COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR}
      -DOUTPUT=${output} -DVERSION=${PROJECT_VERSION} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    VERBATIM)
  target_sources(${TARGET} PRIVATE ${output})
  add_dependencies(${TARGET} tessera_commit)
endfunction()
