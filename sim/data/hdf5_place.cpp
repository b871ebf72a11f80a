#include "sim/data/hdf5_place.h"

#include <algorithm>
#include <array>

#include "sim/base/sizes.h"

namespace tessera::data {

namespace {

/// Limit of the compression ratio of stored numbers; deflate reaches 1,032.
constexpr std::uint64_t kMostCompression = 1100;
constexpr unsigned kMostDimensions = 8;

}  // namespace

Hdf5Handle open_hdf5(const std::string& name, std::string& bytes, const char* kind) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print to stderr
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr std::size_t kGrowth = 65536;
  H5Pset_fapl_core(access, kGrowth, 0);
  H5Pset_file_image(access, bytes.data(), bytes.size());
  // The image's name must not match any file: no file lies below `name`, itself a file.
  const std::string image = name + "/image";
  const hid_t opened = H5Fopen(image.c_str(), H5F_ACC_RDONLY, access);
  if (opened < 0) throw UserError("{}: no HDF5 file, which {} is", name, kind);
  return {opened, H5Fclose};
}

std::vector<std::string> Hdf5Place::children() const {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return 0;
  };
  if (H5Literate(id_, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) < 0)
    fail("its members cannot be read");
  return names;
}

std::uint64_t Hdf5Place::count(std::uint64_t bytes) const {
  const std::uint64_t count = bounded_product(shape());
  take(count);
  const Hdf5Handle creation(H5Dget_create_plist(id_), H5Pclose);
  if (H5Pget_external_count(creation) != 0 || H5Pget_layout(creation) == H5D_VIRTUAL)
    fail("lies in other files");
  const std::uint64_t stored = H5Dget_storage_size(id_);
  if (bounded_product(count, bytes) / kMostCompression > stored)
    fail("found {} elements of which the file stores {} bytes", count, stored);
  return count;
}

std::vector<std::uint64_t> Hdf5Place::shape() const {
  const Hdf5Handle space(H5Dget_space(id_), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  std::array<hsize_t, kMostDimensions> extents{};
  if (dimensions < 0 || dimensions > static_cast<int>(kMostDimensions))
    fail("found {} dimensions, allowed 0 to {}", dimensions, kMostDimensions);
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.begin() + dimensions};
}

std::vector<double> Hdf5Place::numbers() const {
  const Hdf5Handle type(H5Dget_type(id_), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) fail("holds no numbers");
  std::vector<double> values(count(H5Tget_size(type)));
  if (!values.empty() &&
      H5Dread(id_, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail("its numbers cannot be read");
  return values;
}

std::vector<std::string> Hdf5Place::texts() const {
  const Hdf5Handle type(H5Dget_type(id_), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING) fail("holds no text");
  const std::size_t length = H5Tget_size(type);  // the size of a reference if lengths vary
  std::vector<std::string> texts(count(length));
  if (texts.empty()) return texts;
  if (H5Tis_variable_str(type) > 0) {
    const Hdf5Handle space(H5Dget_space(id_), H5Sclose);
    std::vector<char*> pointers(texts.size(), nullptr);
    if (H5Dread(id_, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0)
      fail("its text cannot be read");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (pointers[i] != nullptr) texts[i] = pointers[i];
      take(texts[i].size());
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
    return texts;
  }
  take(bounded_product(texts.size(), length));
  std::string characters(texts.size() * length, '\0');
  if (H5Dread(id_, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, characters.data()) < 0)
    fail("its text cannot be read");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i] = characters.substr(i * length, length);
    texts[i].resize(std::min(texts[i].find('\0'), length));  // up to the first null
  }
  return texts;
}

}  // namespace tessera::data
