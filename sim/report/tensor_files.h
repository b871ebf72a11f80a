#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/program/tensor_reader.h"

/// Tensors of a run as .npy files.
namespace tessera::report {

/// A tensor in the form of its file.
struct SavedTensor {
  std::string name;
  std::string kind;    ///< "[64, 16] f16"
  std::string header;  ///< the file's header
  std::vector<std::byte> bytes;
};

/// Reads a tensor, row-major, in its stored type; pairs of real and imaginary parts as complex.
SavedTensor read_tensor(const TensorReader& tensors, const std::string& name, HostThreads& threads);

/// Writes the whole file or nothing. Throws UserError or HostLimit.
void write_tensor(const SavedTensor& tensor, const std::string& file);

/// "[64, 16] f16"
std::string kind_of(const program::Tensor& tensor);

/// For `tessera check`: one line per tensor with shape, type and role.
std::string tensor_table(const program::Program& program);

}  // namespace tessera::report
