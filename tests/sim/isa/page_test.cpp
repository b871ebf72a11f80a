#include "sim/isa/page.h"

#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

TEST_SUITE("unit") {
  TEST_CASE("ISA.md is what the table says") {
    std::ifstream file(TESSERA_SOURCE "/sim/isa/ISA.md");
    std::ostringstream text;
    text << file.rdbuf();
    const bool same = text.str() == tessera::isa::page();
    CHECK_MESSAGE(same, "renew it: generate_header page sim/isa/ISA.md");
  }
}
