#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "sim/data/random.h"
#include "tests/cli/command.h"

namespace tessera::test {

/// A temporary .npy file of a matrix; the destructor removes it.
class NumpyFile {
 public:
  template <class Element>
  NumpyFile(std::uint64_t rows, std::uint64_t columns, const Element& element) {
    std::string bytes;
    for (std::uint64_t i = 0; i < rows * columns; ++i) {
      const auto value = static_cast<float>(element(i / columns, i % columns));
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    folder_.write(kName, numpy_file("<f4", fmt::format("{}, {}", rows, columns), bytes));
  }
  [[nodiscard]] std::string path() const { return folder_.file(kName); }

 private:
  static constexpr const char* kName = "a.npy";
  Folder folder_;
};

/// Element (i, j) of random data, which is hard for checks.
inline double random_element(std::uint64_t stream, std::uint64_t i, std::uint64_t j) {
  return static_cast<double>(data::random_signed(3, stream, i * 10000 + j, 20));
}

/// Functions for NumpyFile: random_element() times `scale`, and a constant matrix.
inline auto scaled(double scale, std::uint64_t stream) {
  return [=](std::uint64_t i, std::uint64_t j) { return scale * random_element(stream, i, j); };
}
inline auto constant(double value) {
  return [=](std::uint64_t, std::uint64_t) { return value; };
}

}  // namespace tessera::test
