# Headers that most files include, parsed once a target: a quarter of the build's time. Files still
# include what they use; the dev preset builds without, which shows a missing include.
function(tessera_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span> <string>
    <string_view> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp> ${ARGN})
  # ccache keeps what was compiled with a precompiled header only if that has no time in it.
  # What the headers' templates need at once is instantiated with them, not in each file.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp -fpch-instantiate-templates)
  endif()
endfunction()
