#include "sim/program/listing.h"

#include <cstring>

#include <fmt/format.h>

#include "sim/isa/disassemble.h"

namespace tessera::program {

std::string list_code(const CodeImage& image, const std::vector<StepInfo>& steps) {
  std::string text;
  std::size_t next_symbol = 0;
  std::size_t next_step = 0;
  for (std::uint32_t at = 0; at + sizeof(std::uint32_t) <= image.bytes.size(); at += 4) {
    for (; next_symbol < image.symbols.size() && image.symbols[next_symbol].first.count() <= at;
         ++next_symbol) {
      text += fmt::format("{}:\n", image.symbols[next_symbol].second);
    }
    for (; next_step < image.steps.size() && image.steps[next_step].first.count() <= at;
         ++next_step) {
      const std::uint32_t step = image.steps[next_step].second;
      if (step != kNoStep) text += fmt::format("# step {}: {}\n", step, steps.at(step).name);
    }
    std::uint32_t word = 0;
    std::memcpy(&word, image.bytes.data() + at, sizeof word);
    text += fmt::format("{:8x}: {:08x}  {}\n", at, word, isa::disassemble(word, at));
  }
  return text;
}

}  // namespace tessera::program
