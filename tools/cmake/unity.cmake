# In the presets release and asan files of one folder are compiled together, up to eight: what they all
# include is read once. So the names in their anonymous namespaces differ. Not for kernels and commands,
# where each file has its own Writer, Fit or word().
function(tessera_unity target)
  if(NOT TESSERA_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR files_${folder} "0${files_${folder}} + 1")
    math(EXPR group "(${files_${folder}} - 1) / 8")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
