#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/program/program.h"

namespace tessera::data {

/// A dense array of a .npy file, in C order, as doubles (every f16, f32, f64, and integer below
/// 2^53 is exact).
struct NumpyArray {
  std::string dtype;  ///< as in the file: <f2, <f4, <f8, |i1, <i4, <c8, ...
  std::vector<std::uint64_t> shape;
  std::vector<double> values;
};

/// Reads .npy versions 1 to 3 (numpy.lib.format): little-endian or single-byte numbers, C or
/// Fortran order; complex numbers become real and imaginary parts along a last extent of 2. Leaves
/// out: structured, string and big-endian arrays. Errors are UserErrors that name the file.
NumpyArray read_numpy(const std::filesystem::path& path);

/// Parses the bytes of a file; errors show `name`.
NumpyArray parse_numpy(std::string_view bytes, std::string_view name);

/// Refuses infinities, NaN and values beyond the range of `type` (f16 or f32) once rounded: throws
/// UserError with `name`, the element's index and its value.
void require_finite(const NumpyArray& array, program::Type type, std::string_view name);

/// The header of a .npy file, version 1, for data in C order.
std::string numpy_header(std::string_view dtype, const std::vector<std::uint64_t>& shape);

/// Reads only the shape from the file's header.
std::vector<std::uint64_t> numpy_shape(const std::filesystem::path& path);

}  // namespace tessera::data
