#include <array>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kinds.h"
#include "small_runs.h"

namespace tessera::fuzz {
namespace {

std::string market_text(Choices& choices) {
  const std::uint64_t rows = 1 + choices.below(40), columns = 1 + choices.below(40);
  const std::uint64_t entries = choices.below(60);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                                 choices.once_in(4) ? size(choices) : rows, columns, entries);
  for (std::uint64_t i = 0; i < entries; ++i) {
    text += fmt::format("{} {} {}\n", 1 + choices.below(rows), 1 + choices.below(columns), 0.5);
  }
  return text;
}

std::string smtx_text(Choices& choices) {
  const std::uint64_t rows = 1 + choices.below(20), columns = 1 + choices.below(20);
  std::vector<std::uint64_t> offsets{0}, places;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t c = choices.below(4); c < columns; c += 1 + choices.below(5))
      places.push_back(c);
    offsets.push_back(places.size());
  }
  return fmt::format("{}, {}, {}\n{}\n{}\n", rows, columns, places.size(), fmt::join(offsets, " "),
                     fmt::join(places, " "));
}

std::string numpy_bytes(Choices& choices) {
  const std::size_t rows = 1 + choices.below(20), columns = 1 + choices.below(20);
  std::string bytes = data::numpy_header("<f4", {rows, columns});
  constexpr std::string_view kRows = "'fortran_order': False", kColumns = "'fortran_order': True ";
  if (choices.once_in(2)) bytes.replace(bytes.find(kRows), kRows.size(), kColumns);
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const float number = choices.once_in(3) ? 0.0F : 0.25F;
    std::array<char, sizeof number> raw;
    std::memcpy(raw.data(), &number, sizeof number);
    bytes.append(raw.data(), raw.size());
  }
  return bytes;
}

}  // namespace

Input matrix_input(const Seeds& seeds, Choices& choices) {
  std::string name = "w.mtx", bytes;
  switch (choices.below(3)) {
    case 0:
      bytes = market_text(choices);
      break;
    case 1:
      name = "w.smtx";
      bytes = smtx_text(choices);
      break;
    default:
      name = "w.npy";
      bytes = numpy_bytes(choices);
  }
  if (!choices.once_in(3)) bytes = mutated(bytes, choices);
  Json workload = drawn_workload(seeds, "matrix", choices);
  workload.update({{"matrix", name}, {"n", 1 + choices.below(64)}});
  const Json config = {{"machine", {{"extends", "bow"}, {"tiles", 1 + choices.below(64)}}},
                       {"workload", workload}};
  return {{{"a.json", text_of(config)}, {name, bytes}}, simulate(choices), ""};
}

}  // namespace tessera::fuzz
