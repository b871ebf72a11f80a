#include "sim/data/nir_file.h"

#include <cstring>

#include "sim/base/errors.h"
#include "sim/data/child_reader.h"
#include "sim/data/read_file.h"

namespace tessera::data {

namespace {

/// Memory limit of the reading process: it holds a file's numbers twice, for under a second.
constexpr std::uint64_t kMostMemory = 3 * sizeof(double) * kMostNirValues;
constexpr unsigned kMostSeconds = 4;

/// Serialises a graph for the pipe from the reading process.
class Packer {
 public:
  std::string pack(const NirGraph& graph) {
    std::uint64_t values = 0;
    for (const auto& [name, node] : graph.nodes)
      for (const auto& [key, parameter] : node.parameters) values += parameter.values.size();
    text_.reserve(values * sizeof(double));
    add(graph.nodes.size());
    for (const auto& [name, node] : graph.nodes) {
      add(name);
      add(node.type);
      add(node.parameters.size());
      for (const auto& [key, parameter] : node.parameters) {
        add(key);
        add(parameter.text);
        add(parameter.shape);
        add(parameter.values);
      }
    }
    add(graph.edges.size());
    for (const auto& [from, to] : graph.edges) {
      add(from);
      add(to);
    }
    return std::move(text_);
  }

 private:
  void add(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(const std::string& text) {
    add(text.size());
    text_ += text;
  }
  template <class Number>
  void add(const std::vector<Number>& numbers) {
    add(numbers.size());
    text_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  }

  std::string text_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::string& text) : text_(text) {}

  NirGraph unpack() {
    NirGraph graph;
    for (std::uint64_t left = number(); left > 0; --left) {
      const std::string name = text();
      NirNode& node = graph.nodes[name];
      node.type = text();
      for (std::uint64_t parameters = number(); parameters > 0; --parameters) {
        NirParameter& parameter = node.parameters[text()];
        parameter.text = text();
        parameter.shape = numbers<std::uint64_t>();
        parameter.values = numbers<double>();
      }
    }
    for (std::uint64_t left = number(); left > 0; --left) {
      const std::string from = text();
      graph.edges.emplace_back(from, text());
    }
    return graph;
  }

 private:
  void take(void* into, std::uint64_t bytes) {
    check(bytes <= text_.size() - at_, "nir: {} bytes of {} from byte {} on", bytes, text_.size(),
          at_);
    if (bytes != 0) std::memcpy(into, text_.data() + at_, bytes);
    at_ += bytes;
  }
  std::uint64_t number() {
    std::uint64_t number = 0;
    take(&number, sizeof number);
    return number;
  }
  std::string text() {
    std::string text(number(), '\0');
    take(text.data(), text.size());
    return text;
  }
  template <class Number>
  std::vector<Number> numbers() {
    std::vector<Number> numbers(number());
    take(numbers.data(), numbers.size() * sizeof(Number));
    return numbers;
  }

  const std::string& text_;
  std::uint64_t at_ = 0;
};

}  // namespace

NirGraph read_nir(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string text = read_in_child(
      name, read_file(path), {kMostMemory, kMostSeconds},
      [&](std::string bytes) { return Packer().pack(parse_nir(name, std::move(bytes))); });
  return Unpacker(text).unpack();
}

}  // namespace tessera::data
