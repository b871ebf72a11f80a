#include "tests/sim/data/nir_writer.h"

#include <hdf5.h>

namespace tessera::test {

namespace {

void write_dataset(hid_t group, const std::string& name, const std::vector<std::uint64_t>& shape,
                   hid_t type, const void* data) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const hid_t space =
      extents.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t set =
      H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (data != nullptr) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(set);
  H5Sclose(space);
}

void write_texts(hid_t group, const std::string& name, const std::vector<std::uint64_t>& shape,
                 const std::vector<std::string>& texts) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  write_dataset(group, name, shape, type, pointers.data());
  H5Tclose(type);
}

void write_parameters(hid_t group, const data::NirNode& node) {
  write_texts(group, "type", {}, {node.type});
  for (const auto& [name, parameter] : node.parameters) {
    if (!parameter.text.empty()) {
      write_texts(group, name, {}, {parameter.text});
    } else {
      write_dataset(group, name, parameter.shape, H5T_NATIVE_DOUBLE, parameter.values.data());
    }
  }
}

void write_graph(hid_t group, const NirItem& graph) {
  const auto make = [](hid_t in, const std::string& name) {
    return H5Gcreate2(in, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  };
  write_texts(group, "type", {}, {"NIRGraph"});
  std::vector<std::string> ends;
  for (const auto& [from, to] : graph.edges) {
    ends.push_back(from);
    ends.push_back(to);
  }
  write_texts(group, "edges", {graph.edges.size(), 2}, ends);
  const hid_t nodes = make(group, "nodes");
  for (const NirItem& item : graph.nodes) {
    const hid_t node = make(nodes, item.name);
    item.nodes.empty() ? write_parameters(node, item.node) : write_graph(node, item);
    H5Gclose(node);
  }
  H5Gclose(nodes);
}

}  // namespace

void write_nir(const std::filesystem::path& path, const NirItem& graph) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  write_texts(file, "version", {}, {"1.0"});
  const hid_t node = H5Gcreate2(file, "node", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  write_graph(node, graph);
  H5Gclose(node);
  H5Fclose(file);
}

}  // namespace tessera::test
