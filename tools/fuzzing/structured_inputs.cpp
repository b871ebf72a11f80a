#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "kinds.h"

namespace tessera::fuzz {
namespace {

using Places = std::function<bool(std::size_t row, std::size_t column)>;
using Values = std::function<double(std::size_t row, std::size_t column)>;

struct Size {
  std::size_t rows, columns;
};

/// Places where a matrix has elements.
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

/// At most 1 in size, so that sums in f16 do not overflow.
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

/// A workload, and the files that it names.
struct Product {
  Json workload;
  std::map<std::string, std::string> files = {};
  Choices& choices;

  /// Key `key` names a file, always or one time in three.
  void dense(const std::string& key, Size size, bool always = false) {
    if (!always && !choices.once_in(3)) return;
    workload[key] = key + ".npy";
    files[key + ".npy"] = dense_file(size, choices);
  }
  void matrix(Size size) {
    workload["matrix"] = "w.mtx";
    files["w.mtx"] = market_text(size, choices);
  }
  template <std::size_t N>
  std::string one_of(const char* key, const std::array<const char*, N>& names) {
    const std::string name = choices.of(names);
    workload[key] = name;
    return name;
  }
};

void add_sparse(Product& product, Size w, std::size_t n) {
  constexpr std::array<int, 5> kBlocks = {1, 1, 4, 8, 16};
  constexpr std::array<const char*, 2> kLayouts = {"natural", "blocked"};
  product.matrix(w);
  product.workload["block"] = product.choices.of(kBlocks);
  product.one_of("layout", kLayouts);
  if (product.workload["dtype"] == "f16" && product.choices.once_in(2))
    product.workload["partials"] = "f16";
  const std::string kernel = product.workload["kernel"];
  std::string pass = "forward";
  if (kernel == "spmm_dynamic")
    pass = product.one_of("pass", std::array{"forward", "grad_input", "grad_values"});
  if (kernel == "pixelfly") {
    const std::size_t rank = 1 + product.choices.below(20);
    product.workload["rank"] = rank;
    product.dense("u", {w.rows, rank});
    product.dense("v", {w.columns, rank});
    pass = product.one_of("pass", std::array{"forward", "grad_input", "grad_weights"});
  }
  if (pass != "grad_input") product.dense("x", {w.columns, n});
  if (pass == "grad_input") {
    product.dense(kernel == "pixelfly" ? "x" : "gradient", {w.rows, n});
  } else if (pass != "forward") {
    product.dense("gradient", {w.rows, n});
  }
}

}  // namespace

Input structure_input(const Seeds& /*seeds*/, Choices& choices) {
  constexpr std::array<const char*, 9> kKernels = {"spmm_static",   "spmm_static",  "spmm_static",
                                                   "spmm_dynamic",  "spmm_dynamic", "spmm_tilewise",
                                                   "spmm_tilewise", "pixelfly",     "gemm"};
  constexpr std::array<std::size_t, 8> kSizes = {5, 16, 33, 64, 100, 128, 128, 256};
  constexpr std::array<std::size_t, 7> kColumns = {1, 2, 4, 4, 9, 16, 40};
  constexpr std::array<int, 6> kTiles = {1, 2, 4, 16, 16, 33};
  constexpr std::array<const char*, 6> kMachines = {"bow", "bow", "gc200", "bow", "wse2", "upmem"};
  const Size w{choices.of(kSizes), choices.of(kSizes)};
  const std::size_t n = choices.of(kColumns);
  Product product{{{"kernel", choices.of(kKernels)},
                   {"dtype", choices.once_in(2) ? "f16" : "f32"},
                   {"seed", 1 + choices.below(1000)}},
                  {},
                  choices};
  const std::string kernel = product.workload["kernel"];
  if (kernel == "gemm") {
    product.workload.update({{"m", w.rows}, {"k", w.columns}, {"n", n}});
    product.dense("a", w, /*always=*/true);
    product.dense("b", {w.columns, n});
  } else if (kernel == "spmm_tilewise") {
    // C = A W: what it keeps of W is its own choice.
    constexpr std::array<double, 3> kSparsities = {0, 0.25, 0.75};
    product.matrix(w);
    product.workload.update({{"m", n}, {"sparsity", choices.of(kSparsities)}});
    product.one_of("method", std::array{"tw_1d", "tw_2d", "tew"});
    product.one_of("partials", std::array{"auto", "f32"});
    product.dense("a", {n, w.rows});
  } else {
    product.workload["n"] = n;
    add_sparse(product, w, n);
  }
  const Json config = {
      {"machine", {{"extends", choices.of(kMachines)}, {"tiles", choices.of(kTiles)}}},
      {"workload", product.workload},
      {"run", {{"check", choices.once_in(4) ? "sample" : "full"}}}};
  product.files["a.json"] = text_of(config);
  return {product.files, {"run", "a.json", "--threads", "1", "--out", "r"}, ""};
}

}  // namespace tessera::fuzz
