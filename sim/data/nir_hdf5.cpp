#include "sim/data/nir_hdf5.h"

#include <algorithm>
#include <array>
#include <hdf5.h>

#include "sim/base/errors.h"
#include "sim/base/sizes.h"

namespace tessera::data {

namespace {

/// Of numbers that are stored compressed; deflate reaches 1,032.
constexpr std::uint64_t kMostCompression = 1100;
constexpr unsigned kMostDimensions = 8;
constexpr unsigned kMostDepth = 16;

/// An open object of the HDF5 library.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): the library's type

 private:
  hid_t id_;
  Close close_;
};

/// A file that is being read.
struct File {
  std::string name;
  std::uint64_t left = kMostNirValues;  ///< numbers and bytes of text that it may still hold
};

/// A group or dataset of a file, with what its errors say.
class Place {
 public:
  Place(hid_t parent, File& file, std::string path)
      : file_(file), path_(std::move(path)), id_(open(parent), H5Oclose) {
    if (!id_.valid()) fail("cannot be read");
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError(fmt::format("{}: {}: {}", file_.name, path_,
                                fmt::format(problem, std::forward<Args>(args)...)));
  }
  [[nodiscard]] bool is_group() const { return H5Iget_type(id_) == H5I_GROUP; }
  [[nodiscard]] bool is_dataset() const { return H5Iget_type(id_) == H5I_DATASET; }
  [[nodiscard]] hid_t id() const { return id_; }

  [[nodiscard]] Place child(const std::string& name) const {
    H5L_info_t link{};
    if (!is_group() || H5Lget_info(id_, name.c_str(), &link, H5P_DEFAULT) < 0)
      fail("found no '{}'", name);
    if (link.type >= H5L_TYPE_UD_MIN) fail("'{}' lies in another file", name);
    return Place(id_, file_, path_ == "/" ? path_ + name : path_ + "/" + name);
  }
  /// In the order of their names.
  [[nodiscard]] std::vector<std::string> children() const {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
      static_cast<std::vector<std::string>*>(into)->emplace_back(name);
      return 0;
    };
    if (H5Literate(id_, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) < 0)
      fail("its members cannot be read");
    return names;
  }

  [[nodiscard]] std::vector<std::uint64_t> shape() const;
  [[nodiscard]] std::vector<double> numbers() const;
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] bool holds_text() const {
    return H5Tget_class(Handle(H5Dget_type(id_), H5Tclose)) == H5T_STRING;
  }

 private:
  [[nodiscard]] hid_t open(hid_t parent) const {
    const std::string name = path_.substr(path_.rfind('/') + 1);
    return H5Oopen(parent, name.empty() ? "/" : name.c_str(), H5P_DEFAULT);
  }
  /// Elements, none larger than `bytes`, which the file stores and may hold.
  [[nodiscard]] std::uint64_t count(std::uint64_t bytes) const;
  void take(std::uint64_t values) const {
    if (values > file_.left)
      fail("with it the file holds more than {} numbers and bytes of text", kMostNirValues);
    file_.left -= values;
  }

  File& file_;
  std::string path_;
  Handle id_;
};

std::uint64_t Place::count(std::uint64_t bytes) const {
  const std::uint64_t count = bounded_product(shape());
  take(count);
  const Handle creation(H5Dget_create_plist(id_), H5Pclose);
  if (H5Pget_external_count(creation) != 0 || H5Pget_layout(creation) == H5D_VIRTUAL)
    fail("lies in other files");
  const std::uint64_t stored = H5Dget_storage_size(id_);
  if (bounded_product(count, bytes) / kMostCompression > stored)
    fail("found {} elements of which the file stores {} bytes", count, stored);
  return count;
}

std::vector<std::uint64_t> Place::shape() const {
  const Handle space(H5Dget_space(id_), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  std::array<hsize_t, kMostDimensions> extents{};
  if (dimensions < 0 || dimensions > static_cast<int>(kMostDimensions))
    fail("found {} dimensions, allowed 0 to {}", dimensions, kMostDimensions);
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.begin() + dimensions};
}

std::vector<double> Place::numbers() const {
  const Handle type(H5Dget_type(id_), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) fail("holds no numbers");
  std::vector<double> values(count(H5Tget_size(type)));
  if (!values.empty() &&
      H5Dread(id_, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail("its numbers cannot be read");
  return values;
}

std::vector<std::string> Place::texts() const {
  const Handle type(H5Dget_type(id_), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING) fail("holds no text");
  const std::size_t length = H5Tget_size(type);  // of a reference, where lengths vary
  std::vector<std::string> texts(count(length));
  if (texts.empty()) return texts;
  if (H5Tis_variable_str(type) > 0) {
    const Handle space(H5Dget_space(id_), H5Sclose);
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

std::string type_of(const Place& node) {
  const Place type = node.child("type");
  if (!type.is_dataset()) type.fail("found a group, expected a text");
  const std::vector<std::string> texts = type.texts();
  if (texts.size() != 1) type.fail("found {} texts, expected one", texts.size());
  return texts.front();
}

NirNode read_node(const Place& place, std::string type) {
  NirNode node{std::move(type), {}};
  for (const std::string& name : place.children()) {
    if (name == "type") continue;
    const Place child = place.child(name);
    if (!child.is_dataset()) continue;  // metadata
    NirParameter parameter{child.shape(), {}, {}};
    if (child.holds_text()) {
      const std::vector<std::string> texts = child.texts();
      if (!texts.empty()) parameter.text = texts.front();
    } else {
      parameter.values = child.numbers();
    }
    node.parameters.emplace(name, std::move(parameter));
  }
  return node;
}

std::vector<std::pair<std::string, std::string>> read_edges(const Place& place) {
  if (!place.is_dataset()) place.fail("found a group, expected pairs of names");
  const std::vector<std::string> names = place.texts();
  const std::vector<std::uint64_t> shape = place.shape();
  if (shape.size() != 2 || shape[1] != 2) {
    if (names.empty()) return {};
    place.fail("found the shape [{}], expected pairs of names [n, 2]", fmt::join(shape, ", "));
  }
  std::vector<std::pair<std::string, std::string>> edges;
  for (std::size_t i = 0; i + 1 < names.size(); i += 2) edges.emplace_back(names[i], names[i + 1]);
  return edges;
}

/// The name at which a connection of node `name` ends: a graph's own Input or Output.
std::string end_of(const NirGraph& graph, const Place& place, const std::string& name,
                   const std::string& type) {
  if (graph.nodes.contains(name)) return name;
  std::vector<std::string> found;
  for (const auto& [inner, node] : graph.nodes) {
    const bool direct =
        inner.starts_with(name + ".") && inner.find('.', name.size() + 1) == std::string::npos;
    if (direct && node.type == type) found.push_back(inner);
  }
  if (found.size() != 1) {
    std::vector<std::string> names;
    for (const auto& entry : graph.nodes) names.push_back(entry.first);
    place.fail("'{}' is neither a node nor a graph with one {}; nodes: {}", name, type,
               fmt::join(names, ", "));
  }
  return found.front();
}

void read_graph(const Place& place, const std::string& prefix, unsigned depth, NirGraph& into) {
  if (depth > kMostDepth) place.fail("graphs inside of each other more than {} deep", kMostDepth);
  const Place nodes = place.child("nodes");
  if (!nodes.is_group()) nodes.fail("found a dataset, expected a group of nodes");
  for (const std::string& name : nodes.children()) {
    const Place node = nodes.child(name);
    if (!node.is_group()) node.fail("found a dataset, expected a node");
    const std::string type = type_of(node);
    if (type == "NIRGraph") {
      read_graph(node, prefix + name + ".", depth + 1, into);
    } else {
      into.nodes.emplace(prefix + name, read_node(node, type));
    }
  }
  const Place edges = place.child("edges");
  for (const auto& [from, to] : read_edges(edges)) {
    into.edges.emplace_back(end_of(into, edges, prefix + from, "Output"),
                            end_of(into, edges, prefix + to, "Input"));
  }
}

}  // namespace

NirGraph parse_nir(const std::string& name, std::string bytes) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print to stderr
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr std::size_t kGrowth = 65536;
  H5Pset_fapl_core(access, kGrowth, 0);
  H5Pset_file_image(access, bytes.data(), bytes.size());
  // The name of an image must not be that of any file: nothing lies below one.
  const std::string image = name + "/image";
  const Handle opened(H5Fopen(image.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  if (!opened.valid()) throw UserError(fmt::format("{}: no HDF5 file, which a .nir file is", name));
  File file{name};
  const Place graph = Place(opened, file, "/").child("node");
  if (const std::string type = type_of(graph); type != "NIRGraph")
    graph.child("type").fail("found '{}', expected 'NIRGraph'", type);
  NirGraph result;
  read_graph(graph, "", 0, result);
  std::sort(result.edges.begin(), result.edges.end());
  return result;
}

}  // namespace tessera::data
