# tessera_version(TARGET): makes the project's version and the commit it is built from part of
# TARGET (declared in sim/report/version.h). A new commit configures anew.
function(tessera_version TARGET)
  set(commit unknown)
  find_package(Git QUIET)
  if(GIT_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
      set(commit unknown)
    endif()
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE log
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS "${log}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
    endif()
  endif()
  set(output ${PROJECT_BINARY_DIR}/generated/version.cpp)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include \"sim/report/version.h\"

namespace tessera::report {

const std::string_view kVersion = \"@PROJECT_VERSION@\";
const std::string_view kCommit = \"@commit@\";

}  // namespace tessera::report
")
  target_sources(${TARGET} PRIVATE ${output})
endfunction()
