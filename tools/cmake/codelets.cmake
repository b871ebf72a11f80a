# tessera_codelets(TARGET FILE...): compiles tile code (.cpp, .S of one folder) for the tile ISA, links
# it to FOLDER/codelets.elf and embeds that in TARGET. The code must not depend on its address: it is
# linked at two bases and the bytes compared.
find_program(TILE_CLANG clang-14 REQUIRED)
find_program(TILE_LLD ld.lld-14 REQUIRED)

# clang-14's names for Zfh and Zba. d only for fld, fsd, fsgnj.d and doubles in f registers;
# the loader rejects D arithmetic.
set(TILE_FLAGS
  -target riscv32 -march=rv32imfd_zfh_zba -mabi=ilp32d -mno-relax -mcmodel=medany
  -O2 -ffreestanding -fno-math-errno -fno-jump-tables -ffunction-sections -fdata-sections
  -falign-functions=8 -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables
  -fno-threadsafe-statics -Wall -Wextra -Werror)

# Folder of xtile.h, which tile code includes.
set(XTILE_FOLDER ${PROJECT_BINARY_DIR}/generated/tile)
file(GLOB GENERATE_HEADER_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sim/isa/intrinsics*.cpp)
add_executable(generate_header
  sim/isa/generate_header.cpp sim/isa/page.cpp ${GENERATE_HEADER_SOURCES})
target_link_libraries(generate_header PRIVATE tessera_options)
file(MAKE_DIRECTORY ${XTILE_FOLDER})
add_custom_command(OUTPUT ${XTILE_FOLDER}/xtile.h
  COMMAND generate_header header ${XTILE_FOLDER}/xtile.h
  DEPENDS generate_header VERBATIM)
add_custom_target(xtile_header DEPENDS ${XTILE_FOLDER}/xtile.h)

function(tessera_codelets target)
  list(GET ARGN 0 first)
  get_filename_component(folder ${first} ABSOLUTE)
  get_filename_component(folder ${folder} DIRECTORY)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
  set(out ${PROJECT_BINARY_DIR}/tile/${folder})
  file(MAKE_DIRECTORY ${out})

  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    set(object ${out}/${name}.o)
    set(language)
    if(name MATCHES "\\.cpp$")
      set(language -std=c++20)
    endif()
    add_custom_command(OUTPUT ${object}
      COMMAND ${TILE_CLANG} ${TILE_FLAGS} ${language} -I${PROJECT_SOURCE_DIR} -I${XTILE_FOLDER}
              -MD -MF ${object}.d -c ${path} -o ${object}
      DEPENDS ${path} xtile_header ${XTILE_FOLDER}/xtile.h
      DEPFILE ${object}.d
      COMMENT "Tile code ${folder}/${name}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()

  set(script ${PROJECT_SOURCE_DIR}/tools/cmake/codelets.ld)
  set(elf ${out}/codelets.elf)
  set(link ${TILE_LLD} -m elf32lriscv --no-relax -e 0 -T ${script})
  add_custom_command(OUTPUT ${elf}
    COMMAND ${link} --defsym=BASE=0x10000 --oformat=binary ${objects} -o ${out}/base_0x10000.bin
    COMMAND ${link} --defsym=BASE=0x54328 --oformat=binary ${objects} -o ${out}/base_0x54328.bin
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DFIRST=${out}/base_0x10000.bin
            -DSECOND=${out}/base_0x54328.bin -P ${PROJECT_SOURCE_DIR}/tools/cmake/check_bases.cmake
    COMMAND ${link} --defsym=BASE=0x10000 ${objects} -o ${elf}
    DEPENDS ${objects} ${script}
    COMMENT "Tile code ${folder}/codelets.elf" VERBATIM)
  tessera_embed(${target} ${elf})
endfunction()

# tessera_folder_codelets(TARGET ROOT): makes one ELF for each folder under ROOT that holds tile code.
function(tessera_folder_codelets target root)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/codelets*.cpp ${root}/*.S)
  set(folders)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "^${folder}/[^/]*$")
    tessera_codelets(${target} ${files})
  endforeach()
endfunction()

# tessera_bare_program(SOURCE ELF [OPTION...]): compiles one source into a program for `tessera exec`;
# the options go to the linker.
function(tessera_bare_program source elf)
  get_filename_component(folder ${elf} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${elf}
    COMMAND ${TILE_CLANG} ${TILE_FLAGS} -Wno-unused-command-line-argument -I${XTILE_FOLDER}
            -c ${source} -o ${elf}.o
    COMMAND ${TILE_LLD} -m elf32lriscv --no-relax ${ARGN} ${elf}.o -o ${elf}
    DEPENDS ${source} xtile_header ${XTILE_FOLDER}/xtile.h COMMENT "Bare program ${elf}" VERBATIM)
endfunction()
