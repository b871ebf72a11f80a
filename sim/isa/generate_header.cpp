#include <fstream>
#include <iostream>
#include <string_view>

#include "sim/isa/intrinsics.h"
#include "sim/isa/page.h"

// Generates files from the table: `header FILE` writes xtile.h, which tile code includes; `page
// FILE` writes sim/isa/ISA.md. Run the latter by hand when the table changes (a test compares
// them).
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
