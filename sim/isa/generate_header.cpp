#include <fstream>
#include <iostream>
#include <string_view>

#include "sim/isa/intrinsics.h"

// Writes xtile.h, which tile code includes, to the file named.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: generate_header FILE\n";
    return 2;
  }
  std::ofstream file(argv[1]);
  file << tessera::isa::intrinsics_header();
  file.close();
  return file ? 0 : 1;
}
