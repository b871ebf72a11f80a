# Precompiles headers that most files include, which saves a quarter of the build's time. Files still include what
# they use; the dev preset builds without precompiled headers, which shows a missing include.
# tessera_precompile(TARGET [HEADER...]): HEADERs too; tessera_precompile(TARGET FROM OTHER): reuses OTHER's.
function(tessera_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 precompiled "" FROM "")
  if(precompiled_FROM)
    target_precompile_headers(${target} REUSE_FROM ${precompiled_FROM})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span> <string>
      <string_view> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp> ${precompiled_UNPARSED_ARGUMENTS})
  endif()
  # ccache caches objects compiled with a precompiled header only if that has no timestamp.
  # Templates that the headers use are instantiated with them, not in each file.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp -fpch-instantiate-templates)
  endif()
endfunction()
