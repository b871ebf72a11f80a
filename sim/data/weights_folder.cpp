#include "sim/data/weights_folder.h"

#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/data/numpy_file.h"

namespace tessera::data {

std::vector<float> WeightsFolder::read(const std::string& name,
                                       const std::vector<std::uint64_t>& shape,
                                       program::Type type) {
  const std::string file = path(name);
  const NumpyArray array = read_numpy(file);
  read_.insert(name + ".npy");
  if (array.dtype.starts_with("<c"))
    throw KeyError(key_, "found {} of complex numbers ({}), allowed real", file, array.dtype);
  if (array.shape != shape)
    throw KeyError(key_, "found {} of shape [{}], allowed [{}]", file, fmt::join(array.shape, ", "),
                   fmt::join(shape, ", "));
  require_finite(array, type, file);
  std::vector<float> values(array.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(array.values[i]);
  return values;
}

void WeightsFolder::require_all_read() const {
  std::set<std::string> unread;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix_) && name.ends_with(".npy") && !read_.contains(name))
      unread.insert(name);
  }
  if (!unread.empty())
    throw KeyError(key_, "found {}, which nothing of the network reads, allowed {}",
                   (folder_ / *unread.begin()).string(), fmt::join(read_, ", "));
}

}  // namespace tessera::data
