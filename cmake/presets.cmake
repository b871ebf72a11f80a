# tessera_presets(TARGET FUNCTION FOLDER): makes the folder's JSON files part of TARGET, in the order
# of their names, as `config::Presets config::FUNCTION()` (declared in sim/config/presets.h).
function(tessera_presets TARGET FUNCTION FOLDER)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/*.json)
  list(SORT files)
  set(entries "")
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"JSON(${text})JSON\"},\n")
  endforeach()
  list(LENGTH files count)
  set(output ${PROJECT_BINARY_DIR}/generated/${FUNCTION}.cpp)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <array>

#include \"sim/config/presets.h\"

namespace tessera::config {
namespace {

constexpr std::array<Preset, ${count}> kPresets = {{
@entries@}};

}  // namespace

Presets @FUNCTION@() { return kPresets; }

}  // namespace tessera::config
")
  target_sources(${TARGET} PRIVATE ${output})
endfunction()
