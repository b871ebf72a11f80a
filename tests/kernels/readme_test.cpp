#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/embedded.h"
#include "sim/elf/codelet.h"
#include "tests/kernels/lone_codelet.h"

namespace tessera::test {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(TESSERA_SOURCE) + "/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("the kernel in C++ that kernels/README.md shows compiles, computes and returns") {
    const std::string code = text_of("tests/kernels/readme/codelets.cpp");
    REQUIRE(!code.empty());
    CHECK(text_of("kernels/README.md").find("```cpp\n" + code + "```") != std::string::npos);

    constexpr const char* kFile = "tests/kernels/readme/codelets.elf";
    const auto codelets = elf::codelets(elf::read(embedded::find(kFile), kFile));
    REQUIRE(codelets.size() == 1);
    LoneCodelet lone(codelets.front());
    constexpr std::uint32_t kX = LoneCodelet::kData + 0x100;
    constexpr std::uint32_t kY = LoneCodelet::kData + 0x200;
    lone.put(LoneCodelet::kData, kX);
    lone.put(LoneCodelet::kData + 4, kY);
    lone.put(LoneCodelet::kData + 8, 2.0F);
    lone.put(LoneCodelet::kData + 12, std::uint32_t{3});
    for (std::uint32_t i = 0; i < 8; ++i) {
      lone.put(kX + 4 * i, static_cast<float>(i));
      lone.put(kY + 4 * i, 1.0F);
    }
    lone.slots(LoneCodelet::kData);
    for (std::uint32_t i = 0; i < 8; ++i)
      CHECK(lone.get<float>(kY + 4 * i) == (i < 6 ? 2.0F * static_cast<float>(i) + 1.0F : 1.0F));
  }
}

}  // namespace tessera::test
