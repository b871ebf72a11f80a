# Headers that most files include, parsed once and not by every file: a quarter of the build's time. Files still
# include what they use; the dev preset builds without, which shows a missing include.
# tessera_precompile(TARGET [HEADER...]): these too; tessera_precompile(TARGET FROM OTHER): what OTHER has parsed.
function(tessera_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 precompiled "" FROM "")
  if(precompiled_FROM)
    target_precompile_headers(${target} REUSE_FROM ${precompiled_FROM})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span> <string>
      <string_view> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp> ${precompiled_UNPARSED_ARGUMENTS})
  endif()
  # ccache keeps what was compiled with a precompiled header only if that has no time in it.
  # What the headers' templates need at once is instantiated with them, not in each file.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp -fpch-instantiate-templates)
  endif()
endfunction()
