# cmake -DFOLDER=NAME -DFIRST=FILE -DSECOND=FILE -P check_bases.cmake: the same tile code linked at two
# addresses must have the same bytes.
file(SHA256 ${FIRST} first)
file(SHA256 ${SECOND} second)
if(NOT first STREQUAL second)
  message(FATAL_ERROR "${FOLDER}: the tile code works at one address only. "
    "Take addresses with la (pc-relative), not lui, and keep no tables of addresses.")
endif()
