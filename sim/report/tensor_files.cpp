#include "sim/report/tensor_files.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/whole_file.h"
#include "sim/data/numpy_file.h"

namespace tessera::report {

namespace {

struct TypeNames {
  const char* name;
  const char* numpy;
};

TypeNames names_of(const program::Tensor& tensor) {
  // bf16, which NumPy lacks, is saved as its bits.
  constexpr std::array<TypeNames, 8> kNames{{{"f16", "<f2"},
                                             {"bf16", "<u2"},
                                             {"f32", "<f4"},
                                             {"i8", "|i1"},
                                             {"i16", "<i2"},
                                             {"i32", "<i4"},
                                             {"u16", "<u2"},
                                             {"u32", "<u4"}}};
  if (tensor.is_complex) return {"c64", "<c8"};
  return kNames[static_cast<std::size_t>(tensor.type)];
}

std::vector<std::uint64_t> shape_of(const program::Tensor& tensor) {
  std::vector<std::uint64_t> shape = tensor.shape;
  if (tensor.is_complex) shape.pop_back();
  return shape;
}

}  // namespace

std::string kind_of(const program::Tensor& tensor) {
  return fmt::format("[{}] {}", fmt::join(shape_of(tensor), ", "), names_of(tensor).name);
}

SavedTensor read_tensor(const TensorReader& tensors, const std::string& name,
                        HostThreads& threads) {
  const program::Tensor& tensor = tensors.tensor(name);
  return {name, kind_of(tensor), data::numpy_header(names_of(tensor).numpy, shape_of(tensor)),
          tensors.bytes(name, threads)};
}

void write_tensor(const SavedTensor& tensor, const std::string& file) {
  WholeFile whole(file);
  whole.out() << tensor.header;
  whole.out().write(reinterpret_cast<const char*>(tensor.bytes.data()),
                    static_cast<std::streamsize>(tensor.bytes.size()));
  whole.finish();
  whole.commit();
}

std::string tensor_table(const program::Program& program) {
  std::size_t widest = 0;
  for (const program::Tensor& tensor : program.tensors())
    widest = std::max(widest, tensor.name.size());
  std::string text;
  for (const program::Tensor& tensor : program.tensors())
    text += fmt::format("  {:<9} {:<{}}  {} {}\n", text.empty() ? "tensors" : "", tensor.name,
                        widest, kind_of(tensor), name_of(tensor.role));
  return text;
}

}  // namespace tessera::report
