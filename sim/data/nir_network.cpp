#include "sim/data/nir_network.h"

#include <algorithm>
#include <queue>
#include <set>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"

namespace tessera::data {

namespace {

constexpr std::uint64_t kMostHeld = std::uint64_t{1} << 27;  ///< limit of held terms, 16 bytes each

/// Sorted by name; parameter names as in nir/ir/neuron.py of the reference implementation.
const std::vector<NodeType>& neuron_types() {
  static const std::vector<NodeType> types{
      {"CubaLIF", {"tau_mem", "tau_syn", "r", "v_leak", "w_in", "v_threshold", "v_reset"}},
      {"IF", {"r", "v_threshold", "v_reset"}},
      {"LI", {"tau", "r", "v_leak"}},
      {"LIF", {"tau", "r", "v_leak", "v_threshold", "v_reset"}}};
  return types;
}

const NodeType* neuron_type(const std::string& type) {
  const auto& types = neuron_types();
  const auto found = std::ranges::find_if(types, [&](const auto& t) { return t.name == type; });
  return found == types.end() ? nullptr : &*found;
}

/// Follows a graph from its sources (the Input, each population) to the populations they reach.
class Builder {
 public:
  Builder(const NirGraph& graph, const std::string& file) : graph_(graph), file_(file) {
    for (const auto& [from, to] : graph.edges) {
      next_[from].push_back(to);
      before_[to].push_back(from);
    }
  }

  NirNetwork build() {
    check_types();
    find_input();
    sort_linear_nodes();
    find_shapes();
    number_populations();
    follow_input();
    for (std::size_t i = 0; i < network_.populations.size(); ++i)
      follow(network_.populations[i].name, i);
    find_shared();
    find_outputs();
    return std::move(network_);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(const std::string& node, fmt::format_string<Args...> problem,
                         Args&&... args) const {
    throw UserError("{}: {}", where(node), fmt::format(problem, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::string where(const std::string& node) const {
    return fmt::format("{}: node '{}' ({})", file_, node, type(node));
  }
  [[nodiscard]] const std::string& type(const std::string& node) const {
    return graph_.nodes.at(node).type;
  }
  [[nodiscard]] bool linear(const std::string& node) const { return is_linear(type(node)); }
  using Neighbours = std::map<std::string, std::vector<std::string>>;
  [[nodiscard]] static const std::vector<std::string>& of(const Neighbours& neighbours,
                                                          const std::string& node) {
    static const std::vector<std::string> none;
    const auto found = neighbours.find(node);
    return found == neighbours.end() ? none : found->second;
  }
  [[nodiscard]] const std::vector<std::string>& next(const std::string& node) const {
    return of(next_, node);
  }
  [[nodiscard]] const std::vector<std::string>& before(const std::string& node) const {
    return of(before_, node);
  }

  /// Checks node types and parameter names: refuses any that nothing reads.
  void check_types() const {
    std::map<std::string_view, std::vector<std::string_view>> known;
    for (const auto& types : {linear_types(), neuron_types()})
      for (const NodeType& type : types) known.emplace(type.name, type.parameters);
    for (const auto& [name, node] : graph_.nodes) {
      const auto found = known.find(node.type);
      if (found == known.end())
        fail(name, "nodes of this type are not supported, but {}",
             fmt::join(mapped(known, [](const auto& entry) { return entry.first; }), ", "));
      const std::vector<std::string_view>& read = found->second;
      for (const auto& entry : node.parameters) {
        const std::string& key = entry.first;
        const bool shape = key == "input_type" || key == "output_type";
        if (!shape && !contains(read, key))
          fail(name, "{}: found, which nothing reads, allowed {}", key, fmt::join(read, ", "));
      }
    }
  }

  void find_input() {
    for (const auto& [name, node] : graph_.nodes) {
      if (node.type != "Input" || !before(name).empty()) continue;
      if (!input_.empty()) fail(name, "a second input beside '{}', expected one", input_);
      input_ = name;
    }
    if (input_.empty()) throw UserError("{}: found no Input node", file_);
    const NirParameter& shape = parameter(graph_.nodes.at(input_), "shape", where(input_));
    for (const double extent : shape.values) {
      if (!(extent >= 1 && extent <= static_cast<double>(kMostElements)))
        fail(input_, "shape: found {}, allowed 1 to {}", extent, kMostElements);
      input_shape_.push_back(static_cast<std::uint64_t>(extent));
    }
    network_.inputs = elements(input_shape_);
    if (network_.inputs > kMostElements)
      fail(input_, "found inputs of shape [{}], allowed {} in all", fmt::join(input_shape_, ", "),
           kMostElements);
  }

  /// Sorts linear nodes topologically.
  void sort_linear_nodes() {
    std::map<std::string, std::size_t> waiting;
    std::set<std::string> ready;
    for (const auto& [name, node] : graph_.nodes) {
      if (!is_linear(node.type)) continue;
      const auto& from = before(name);
      waiting[name] = static_cast<std::size_t>(
          std::ranges::count_if(from, [&](const auto& n) { return linear(n); }));
      if (waiting[name] == 0) ready.insert(name);
    }
    while (!ready.empty()) {
      const std::string name = *ready.begin();
      ready.erase(ready.begin());
      waiting.erase(name);
      order_.push_back(name);
      for (const std::string& after : next(name))
        if (linear(after) && --waiting[after] == 0) ready.insert(after);
    }
    if (waiting.empty()) return;
    const auto names = mapped(waiting, [](const auto& entry) { return entry.first; });
    fail(names.front(), "lies on a cycle of nodes without delay, or behind one: {}",
         fmt::join(names, ", "));
  }

  /// Finds the output shapes of all nodes that the Input reaches.
  void find_shapes() {
    shapes_[input_] = input_shape_;
    for (bool more = true; more;) {
      more = false;
      for (const auto& [name, node] : graph_.nodes) {
        if (shapes_.contains(name)) continue;
        const auto known =
            std::ranges::find_if(before(name), [&](const auto& n) { return shapes_.contains(n); });
        if (known == before(name).end()) continue;
        const Shape& from = shapes_.at(*known);
        shapes_[name] = linear(name) ? made(name, from).map.shape : neurons_shape(name, from);
        more = true;
      }
    }
    for (const auto& [name, node] : graph_.nodes)
      if (!shapes_.contains(name)) fail(name, "the Input does not reach it");
    for (const auto& [from, to] : graph_.edges) {
      const std::uint64_t given = elements(shapes_.at(from));
      if (given != inputs_.at(to))
        fail(to, "takes {} numbers, but '{}' gives {}", inputs_.at(to), from, given);
    }
  }
  const LinearNode& made(const std::string& name, const Shape& from) {
    inputs_[name] = elements(from);
    auto node =
        std::make_shared<const LinearNode>(linear_node(graph_.nodes.at(name), from, where(name)));
    count(node->map, name);
    return *made_.emplace(name, std::move(node)).first->second;
  }
  /// Counts memory held to the end, in terms.
  void count(const LinearMap& map, const std::string& node) {
    constexpr std::uint64_t kRowTerms = 4;  // a row's overhead, in terms
    held_ += kRowTerms * map.rows.size();
    for (const auto& row : map.rows) held_ += row.size();
    if (held_ > kMostHeld) fail_held(node);
  }
  void count_neurons(std::uint64_t neurons, const std::string& node) {
    held_ += neurons * neuron_type(type(node))->parameters.size();
    if (held_ > kMostHeld) fail_held(node);
  }
  [[noreturn]] void fail_held(const std::string& node) const {
    fail(node, "with it the network takes more than {} connections and parameters", kMostHeld);
  }
  Shape neurons_shape(const std::string& name, const Shape& from) {
    inputs_[name] = elements(from);
    const NirParameter& r = parameter(graph_.nodes.at(name), "r", where(name));
    return r.values.size() == elements(from) && !r.shape.empty() ? r.shape : from;
  }

  /// Numbers populations by their distance from the Input, then by name.
  void number_populations() {
    std::map<std::string, std::size_t> distance{{input_, 0}};
    std::queue<std::string> open({input_});
    std::vector<std::pair<std::size_t, std::string>> found;
    for (; !open.empty(); open.pop()) {
      const std::string name = open.front();
      if (!linear(name)) found.emplace_back(distance.at(name), name);
      for (const std::string& after : next(name))
        if (distance.emplace(after, distance.at(name) + 1).second) open.push(after);
    }
    std::ranges::sort(found);
    for (const auto& [away, name] : found) {
      number_[name] = network_.populations.size();
      network_.populations.push_back(population(name));
    }
    if (found.empty()) throw UserError("{}: found no neurons", file_);
  }

  NirPopulation population(const std::string& name) {
    const NirNode& node = graph_.nodes.at(name);
    const std::uint64_t neurons = elements(shapes_.at(name));
    count_neurons(neurons, name);
    NirPopulation result{name, node.type, {}, std::vector<double>(neurons, 0.0), {}};
    for (const std::string_view key : neuron_type(node.type)->parameters) {
      const std::string name_of(key);
      const bool optional = key == "v_reset" || key == "w_in";
      std::vector<double>& values = result.parameters[name_of];
      if (optional && !node.parameters.contains(name_of)) {
        values.assign(neurons, key == "w_in" ? 1.0 : 0.0);
        continue;
      }
      values = parameter(node, name_of, where(name)).values;
      if (values.size() == 1) values.assign(neurons, values.front());
      if (values.size() != neurons)
        fail(name, "{}: found {} numbers for {} neurons", key, values.size(), neurons);
      if (!key.starts_with("tau")) continue;
      const auto bad = std::ranges::find_if(values, [](double t) { return !(t > 0); });
      if (bad != values.end()) fail(name, "{}: found {}, allowed above 0", key, *bad);
    }
    return result;
  }

  using Map = std::shared_ptr<const LinearMap>;
  /// The combined paths from a source to a node.
  struct SourcePaths {
    Map map;                      ///< null: the identity
    std::set<std::string> nodes;  ///< the nodes that change values on these paths
    bool single = true;           ///< there is exactly one path
  };

  /// Adds the source's spikes to the inputs of all populations it reaches.
  void follow(const std::string& source, std::optional<std::size_t> from) {
    std::map<std::string, SourcePaths> ways{{source, {nullptr, {}}}};
    for (const std::string& name : order_) {
      if (name == source) continue;
      std::optional<SourcePaths> way = gathered(source, name, ways);
      if (!way) continue;
      if (!passes_on(type(name))) {
        way->map = behind(way->map, name);
        way->nodes.insert(name);
      }
      ways[name] = std::move(*way);
    }
    for (NirPopulation& population : network_.populations) {
      // Paths end at populations; a path that returns to its source is recurrence.
      std::optional<SourcePaths> way = gathered(source, population.name, ways);
      if (!way) continue;
      const bool product = way->nodes.size() == 1 && is_product(type(*way->nodes.begin()));
      population.inputs.push_back(
          {from, whole(way->map, source, population.name), {}, way->single && product});
      for (const std::string& name : way->nodes)
        population.inputs.back().nodes.push_back(fmt::format("'{}' ({})", name, type(name)));
    }
  }
  /// Applies the linear node `name` after a map.
  Map behind(const Map& map, const std::string& name) {
    const std::shared_ptr<const LinearNode>& node = made_.at(name);
    if (map == nullptr) return {node, &node->map};
    std::optional<LinearMap> made = compose(*map, node->map, kMostHeld - held_);
    if (!made) fail_held(name);
    count(*made, name);
    return std::make_shared<const LinearMap>(std::move(*made));
  }
  /// The explicit map: writes out an identity (null), at the cost of `node`.
  Map whole(Map map, const std::string& source, const std::string& node) {
    if (map != nullptr) return map;
    map = std::make_shared<const LinearMap>(identity(shapes_.at(source)));
    count(*map, node);
    return map;
  }
  /// Clears `own` of weights that occur in several matrices.
  void find_shared() {
    std::map<std::string, unsigned> uses;
    for (const NirPopulation& population : network_.populations)
      for (const NirPopulation::Input& input : population.inputs)
        for (const std::string& node : input.nodes) ++uses[node];
    for (NirPopulation& population : network_.populations)
      for (NirPopulation::Input& input : population.inputs)
        input.own = input.own && uses.at(input.nodes.front()) == 1;
  }
  std::optional<SourcePaths> gathered(const std::string& source, const std::string& name,
                                      const std::map<std::string, SourcePaths>& ways) {
    std::optional<SourcePaths> all;
    for (const std::string& from : before(name)) {
      const auto found = ways.find(from);
      if (found == ways.end()) continue;
      if (!all) {
        all = found->second;
        continue;
      }
      const Map a = whole(all->map, source, name), b = whole(found->second.map, source, name);
      all->map = std::make_shared<const LinearMap>(sum(*a, *b));
      count(*all->map, name);
      all->nodes.insert(found->second.nodes.begin(), found->second.nodes.end());
      all->single = false;
    }
    return all;
  }

  /// Follows the Input's spikes and the constants of all linear nodes.
  void follow_input() {
    follow(input_, std::nullopt);
    std::map<std::string, std::vector<double>> constants;
    const auto gather = [&](const std::string& name, std::vector<double>& into) {
      for (const std::string& from : before(name)) {
        const auto found = constants.find(from);
        if (found == constants.end()) continue;
        for (std::size_t i = 0; i < into.size(); ++i) into[i] += found->second[i];
      }
    };
    for (const std::string& name : order_) {
      std::vector<double> input(inputs_.contains(name) ? inputs_.at(name) : 0, 0.0);
      gather(name, input);
      std::vector<double>& result = constants[name];
      result.assign(elements(shapes_.at(name)), 0.0);
      if (name == input_) continue;
      const LinearNode& node = *made_.at(name);
      for (std::size_t i = 0; i < result.size(); ++i) {
        if (!node.constant.empty()) result[i] = node.constant[i];
        for (const Term& term : node.map.rows[i]) result[i] += term.weight * input[term.input];
      }
    }
    for (NirPopulation& population : network_.populations)
      gather(population.name, population.constant);
  }

  void find_outputs() {
    std::set<std::size_t> shown;
    for (const auto& [name, node] : graph_.nodes) {
      if (node.type != "Output" || !next(name).empty()) continue;
      for (std::string from : before(name)) {
        while (type(from) == "Output" && before(from).size() == 1) from = before(from).front();
        if (linear(from)) fail(name, "shows '{}' ({}), expected neurons", from, type(from));
        shown.insert(number_.at(from));
      }
    }
    if (shown.empty()) throw UserError("{}: found no Output behind neurons", file_);
    network_.outputs.assign(shown.begin(), shown.end());
  }

  const NirGraph& graph_;
  std::string file_;
  Neighbours next_, before_;
  std::string input_;
  Shape input_shape_;
  std::vector<std::string> order_;  ///< linear nodes, topologically sorted
  std::map<std::string, Shape> shapes_;
  std::map<std::string, std::uint64_t> inputs_;  ///< number of inputs per node
  std::map<std::string, std::shared_ptr<const LinearNode>> made_;
  std::uint64_t held_ = 0;  ///< terms and parameters in memory
  std::map<std::string, std::size_t> number_;
  NirNetwork network_;
};

}  // namespace

NirNetwork nir_network(const NirGraph& graph, const std::string& file) {
  return Builder(graph, file).build();
}

}  // namespace tessera::data
