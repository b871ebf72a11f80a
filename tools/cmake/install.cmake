# cmake --install puts the program, its manual page, the completion of bash and the configs in place;
# cpack makes a Debian package of the same. Machines and published numbers are part of the program, too.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DOCDIR ${CMAKE_INSTALL_DATADIR}/doc/tessera)
find_program(GZIP gzip REQUIRED)

# tessera_document(OUTPUT COMMAND...): makes a document of what the program prints.
set(DOCUMENT_FOLDER ${PROJECT_BINARY_DIR}/documents)
file(MAKE_DIRECTORY ${DOCUMENT_FOLDER})
function(tessera_document output)
  add_custom_command(OUTPUT ${DOCUMENT_FOLDER}/${output}
    COMMAND tessera ${ARGN} > ${DOCUMENT_FOLDER}/${output}
    DEPENDS tessera COMMENT "Document ${output}" VERBATIM)
endfunction()
tessera_document(tessera.1 docs man)
tessera_document(tessera.bash docs bash)
tessera_document(configs.md schema --markdown)
add_custom_command(OUTPUT ${DOCUMENT_FOLDER}/tessera.1.gz
  COMMAND ${GZIP} -9nkf ${DOCUMENT_FOLDER}/tessera.1
  DEPENDS ${DOCUMENT_FOLDER}/tessera.1 VERBATIM)
add_custom_target(documents ALL DEPENDS ${DOCUMENT_FOLDER}/tessera.1.gz
  ${DOCUMENT_FOLDER}/tessera.bash ${DOCUMENT_FOLDER}/configs.md)

install(TARGETS tessera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera)
install(FILES ${DOCUMENT_FOLDER}/tessera.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${DOCUMENT_FOLDER}/tessera.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tessera)
install(FILES README.md ${DOCUMENT_FOLDER}/configs.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY tools/pictures DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools FILES_MATCHING PATTERN *.png)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of manycore MIMD machines")
set(CPACK_PACKAGE_DESCRIPTION "Runs tile programs on thousands of simulated cores, checks their results and reports
cycles, memory, traffic and energy of a JSON config. Needs a processor with AVX2.")
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # the libraries that the program links: libsystemc, libsz2, libfmt ...
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS bash-completion)
include(CPack)
