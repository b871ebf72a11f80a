#include <fstream>
#include <iostream>
#include <string_view>

#include "sim/isa/intrinsics.h"
#include "sim/isa/page.h"

// Writes what is made from the table: `header FILE` xtile.h, which tile code includes; `page FILE`
// sim/isa/ISA.md, to be run by hand when the table changes (a test compares them).
int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  if (what != "header" && what != "page") {
    std::cerr << "usage: generate_header header|page FILE\n";
    return 2;
  }
  std::ofstream file(argv[2]);
  file << (what == "page" ? tessera::isa::page() : tessera::isa::intrinsics_header());
  file.close();
  return file ? 0 : 1;
}
