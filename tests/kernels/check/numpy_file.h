#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/data/random.h"

namespace tessera::test {

/// A matrix as a .npy file that goes with it.
class NumpyFile {
 public:
  template <class Element>
  NumpyFile(const char* name, std::uint64_t rows, std::uint64_t columns, const Element& element)
      : path_((std::filesystem::temp_directory_path() / fmt::format("{}-{}.npy", name, ::getpid()))
                  .string()) {
    std::ofstream file(path_, std::ios::binary);
    std::string header = fmt::format(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
    header.resize(118, ' ');
    header += '\n';
    file << std::string("\x93NUMPY\x01\x00\x77\x00", 10) << header;
    for (std::uint64_t i = 0; i < rows * columns; ++i) {
      const auto value = static_cast<float>(element(i / columns, i % columns));
      file.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  ~NumpyFile() { std::filesystem::remove(path_); }
  NumpyFile(const NumpyFile&) = delete;
  NumpyFile& operator=(const NumpyFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Element (i, j) of data that is hard to check.
inline double random_element(std::uint64_t stream, std::uint64_t i, std::uint64_t j) {
  return static_cast<double>(data::random_signed(3, stream, i * 10000 + j, 20));
}

}  // namespace tessera::test
