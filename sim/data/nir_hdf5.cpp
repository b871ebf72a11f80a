#include <algorithm>

#include <fmt/ranges.h>

#include "sim/data/hdf5_place.h"
#include "sim/data/nir_file.h"

namespace tessera::data {

namespace {

constexpr unsigned kMostDepth = 16;

std::string type_of(const Hdf5Place& node) {
  const Hdf5Place type = node.child("type");
  if (!type.is_dataset()) type.fail("found a group, expected a text");
  const std::vector<std::string> texts = type.texts();
  if (texts.size() != 1) type.fail("found {} texts, expected one", texts.size());
  return texts.front();
}

NirNode read_node(const Hdf5Place& place, std::string type) {
  NirNode node{std::move(type), {}};
  for (const std::string& name : place.children()) {
    if (name == "type") continue;
    const Hdf5Place child = place.child(name);
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

std::vector<std::pair<std::string, std::string>> read_edges(const Hdf5Place& place) {
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

/// The node where a connection of `name` ends: for a subgraph, its own Input or Output.
std::string end_of(const NirGraph& graph, const Hdf5Place& place, const std::string& name,
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

void read_graph(const Hdf5Place& place, const std::string& prefix, unsigned depth, NirGraph& into) {
  if (depth > kMostDepth) place.fail("graphs inside of each other more than {} deep", kMostDepth);
  const Hdf5Place nodes = place.child("nodes");
  if (!nodes.is_group()) nodes.fail("found a dataset, expected a group of nodes");
  for (const std::string& name : nodes.children()) {
    const Hdf5Place node = nodes.child(name);
    if (!node.is_group()) node.fail("found a dataset, expected a node");
    const std::string type = type_of(node);
    if (type == "NIRGraph") {
      read_graph(node, prefix + name + ".", depth + 1, into);
    } else {
      into.nodes.emplace(prefix + name, read_node(node, type));
    }
  }
  const Hdf5Place edges = place.child("edges");
  for (const auto& [from, to] : read_edges(edges)) {
    into.edges.emplace_back(end_of(into, edges, prefix + from, "Output"),
                            end_of(into, edges, prefix + to, "Input"));
  }
}

}  // namespace

NirGraph parse_nir(const std::string& name, std::string bytes) {
  const Hdf5Handle opened = open_hdf5(name, bytes, "a .nir file");
  Hdf5File file{name, kMostNirValues};
  const Hdf5Place graph = Hdf5Place(opened, file, "/").child("node");
  if (const std::string type = type_of(graph); type != "NIRGraph")
    graph.child("type").fail("found '{}', expected 'NIRGraph'", type);
  NirGraph result;
  read_graph(graph, "", 0, result);
  std::ranges::sort(result.edges);
  return result;
}

}  // namespace tessera::data
