#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "kinds.h"
#include "small_runs.h"

namespace tessera::fuzz {
namespace {

using Places = std::function<bool(std::size_t row, std::size_t column)>;
using Values = std::function<double(std::size_t row, std::size_t column)>;

struct Size {
  std::size_t rows, columns;
};

/// The places at which a matrix has elements.
Places places(Size size, Choices& choices) {
  const std::size_t chosen = choices.below(size.rows * size.columns);
  const std::size_t width = 1 + choices.below(9);
  const std::size_t step = 2 * choices.below(size.columns) + 1;
  const std::array<Places, 10> all = {
      [](std::size_t, std::size_t) { return true; },
      [](std::size_t, std::size_t) { return true; },
      [](std::size_t i, std::size_t j) { return j <= i; },
      [](std::size_t i, std::size_t j) { return j >= i; },
      [=](std::size_t i, std::size_t j) { return j + width > i && i + width > j; },
      [=](std::size_t i, std::size_t j) { return j == i * step % size.columns; },
      [=](std::size_t i, std::size_t j) { return i == chosen % size.rows || j == i; },
      [=](std::size_t i, std::size_t j) { return j == chosen % size.columns || j == i; },
      [=](std::size_t i, std::size_t j) { return (i / width + j / width) % 2 == 0; },
      [=](std::size_t, std::size_t j) { return j % width == 0; }};
  return choices.of(all);
}

/// Values of at most 1 in size, so that f16 sums do not overflow.
Values values(Size size, Choices& choices) {
  std::vector<double> row(size.columns);
  for (double& each : row) each = static_cast<double>(choices.below(2001)) / 1000 - 1;
  const double constant = std::abs(row[0]) + 0x1p-10;
  const std::size_t kinds = 2 + choices.below(3);
  const std::array<Values, 10> all = {
      [](std::size_t, std::size_t) { return 1.0; },
      [=](std::size_t, std::size_t) { return constant; },
      [=](std::size_t i, std::size_t) { return constant / static_cast<double>(i % kinds + 1); },
      [=](std::size_t, std::size_t j) { return row[j]; },
      [=](std::size_t i, std::size_t j) { return row[j] + 1e-4 * static_cast<double>(i % 7); },
      [=](std::size_t i, std::size_t j) { return row[(i + j) % row.size()]; },
      [=](std::size_t i, std::size_t j) { return row[(i * 5 + j * 3) % kinds % row.size()]; },
      [](std::size_t i, std::size_t j) { return std::ldexp(1, -static_cast<int>((i + j) % 12)); },
      [=](std::size_t i, std::size_t j) { return (i + j) % 2 == 0 ? constant : -constant; },
      [=](std::size_t i, std::size_t j) {
        return j == 0 ? 1 : constant * 1e-3 * row[i % row.size()];
      }};
  return choices.of(all);
}

std::string market_text(Size size, Choices& choices) {
  const Places has = places(size, choices);
  const Values value = values(size, choices);
  std::string entries;
  std::size_t count = 0;
  for (std::size_t i = 0; i < size.rows; ++i) {
    for (std::size_t j = 0; j < size.columns; ++j) {
      if (!has(i, j)) continue;
      entries += fmt::format("{} {} {}\n", i + 1, j + 1, value(i, j));
      ++count;
    }
  }
  return fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n{}", size.rows,
                     size.columns, count, entries);
}

std::string dense_file(Size size, Choices& choices) {
  const Values value = values(size, choices);
  std::string bytes = data::numpy_header("<f4", {size.rows, size.columns});
  for (std::size_t i = 0; i < size.rows; ++i) {
    for (std::size_t j = 0; j < size.columns; ++j) {
      const auto number = static_cast<float>(value(i, j));
      std::array<char, sizeof number> raw;
      std::memcpy(raw.data(), &number, sizeof number);
      bytes.append(raw.data(), raw.size());
    }
  }
  return bytes;
}

/// Extents by their name in points.json.
using Sizes = std::map<std::string, std::size_t>;

/// A workload, and the files it names.
struct Product {
  Json workload;
  std::map<std::string, std::string> files = {};
  Sizes sizes;
  Choices& choices;

  /// Sets keys to a size or to one of their values; `files` and `given` hold files' shapes.
  void set(const Json& keys) {
    for (const auto& [key, values] : keys.items()) {
      if (key == "files" || key == "given")
        for (const auto& [file, shape] : values.items()) dense(file, shape, key == "given");
      else if (values.is_string())
        workload[key] = sizes.at(values);
      else
        choose(workload, {{key, values}}, choices);
    }
  }
  /// Makes `key` name a file, always or one time in three.
  void dense(const std::string& key, const Json& shape, bool always) {
    if (!always && !choices.once_in(3)) return;
    workload[key] = key + ".npy";
    files[key + ".npy"] = dense_file({sizes.at(shape[0]), sizes.at(shape[1])}, choices);
  }
  void matrix() {
    workload["matrix"] = "w.mtx";
    files["w.mtx"] = market_text({sizes.at("rows"), sizes.at("columns")}, choices);
  }
};

/// Draws a kernel and its products, weighted by its share.
std::pair<std::string, Json> chosen_kernel(const Seeds& seeds, Choices& choices) {
  std::vector<std::pair<std::string, Json>> kernels;
  for (const auto& each : stated(seeds, "structure"))
    kernels.insert(kernels.end(), each.second["share"].get<std::size_t>(), each);
  return choices.of(kernels);
}

}  // namespace

Input structure_input(const Seeds& seeds, Choices& choices) {
  constexpr std::array<std::size_t, 8> kSizes = {5, 16, 33, 64, 100, 128, 128, 256};
  constexpr std::array<std::size_t, 7> kColumns = {1, 2, 4, 4, 9, 16, 40};
  constexpr std::array<int, 6> kTiles = {1, 2, 4, 16, 16, 33};
  constexpr std::array<const char*, 6> kMachines = {"bow", "bow", "gc200", "bow", "wse2", "upmem"};
  const Sizes sizes = {{"rows", choices.of(kSizes)},
                       {"columns", choices.of(kSizes)},
                       {"n", choices.of(kColumns)},
                       {"rank", 1 + choices.below(20)}};
  const auto [kernel, facts] = chosen_kernel(seeds, choices);
  const bool half = choices.once_in(2);
  Product product{
      {{"kernel", kernel}, {"dtype", half ? "f16" : "f32"}, {"seed", 1 + choices.below(1000)}},
      {},
      sizes,
      choices};
  if (facts.contains("matrix")) product.matrix();
  product.set(facts.at("shared"));
  if (half && facts.contains("half")) product.set(facts.at("half"));
  product.set(choices.of(facts.at("cases")));
  const Json config = {
      {"machine", {{"extends", choices.of(kMachines)}, {"tiles", choices.of(kTiles)}}},
      {"workload", product.workload},
      {"run", {{"check", choices.once_in(4) ? "sample" : "full"}}}};
  product.files["a.json"] = text_of(config);
  return {product.files, {"run", "a.json", "--threads", "1", "--out", "r"}, ""};
}

}  // namespace tessera::fuzz
