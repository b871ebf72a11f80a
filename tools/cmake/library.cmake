# The library for other SystemC platforms: libtessera.a, include/tessera, the CMake package Tessera and
# pkg-config's tessera.pc. The archive holds one object, everything linked with -r: embedded files are
# in objects that nothing refers to, and archives need no order then. It includes HDF5, its compression,
# libpng, libjpeg and AsmJit with hidden names, so that a platform may link its own.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

find_library(SZIP_ARCHIVE libsz.a REQUIRED)
find_library(AEC_ARCHIVE libaec.a REQUIRED)
set(hidden H5 SZ_ aec_ png_ jpeg_ jsimd_ jinit_ jconst_ jcopy_ jdiv_ jround_ jzero_ _Z*6asmjit)
list(TRANSFORM hidden REPLACE "(.+)" "--localize-symbol=\\1*")
set(embedded)
foreach(target tessera_sim tessera_kernels)
  get_target_property(libraries ${target} TESSERA_EMBEDDED)
  foreach(library ${libraries})
    list(APPEND embedded $<TARGET_OBJECTS:${library}>)
  endforeach()
endforeach()
set(parts tessera_platform tessera_kernels tessera_models tessera_sim)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
set(library ${PROJECT_BINARY_DIR}/library/libtessera.a)
add_custom_command(OUTPUT ${library}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${library}
  COMMAND ${CMAKE_LINKER} -r -o library/tessera.o --whole-archive ${archives} --no-whole-archive
          ${embedded} ${HDF5_ARCHIVE} ${SZIP_ARCHIVE} ${AEC_ARCHIVE} ${PNG_ARCHIVE} ${JPEG_ARCHIVE}
          ${ASMJIT_ARCHIVE}
  COMMAND ${CMAKE_OBJCOPY} --wildcard ${hidden} library/tessera.o
  COMMAND ${CMAKE_AR} rcs ${library} library/tessera.o
  COMMAND ${CMAKE_COMMAND} -E rm library/tessera.o
  DEPENDS ${parts} ${embedded} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  COMMENT "Library libtessera.a" COMMAND_EXPAND_LISTS VERBATIM)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/library)
add_custom_target(library ALL DEPENDS ${library})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
configure_package_config_file(tools/cmake/TesseraConfig.cmake.in library/TesseraConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(library/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(tools/cmake/tessera.pc.in library/tessera.pc @ONLY)

install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/library/TesseraConfig.cmake
  ${PROJECT_BINARY_DIR}/library/TesseraConfigVersion.cmake DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/library/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
