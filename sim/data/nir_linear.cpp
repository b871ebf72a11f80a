#include "sim/data/nir_linear.h"

#include <array>
#include <cmath>
#include <map>

#include "sim/base/errors.h"
#include "sim/base/sizes.h"

namespace tessera::data {

namespace {

constexpr std::uint64_t kMostTerms = std::uint64_t{1} << 26;

template <class... Args>
[[noreturn]] void fail(const std::string& where, fmt::format_string<Args...> problem,
                       Args&&... args) {
  throw UserError("{}: {}", where, fmt::format(problem, std::forward<Args>(args)...));
}

/// Refuses a result that is too large before allocating it: its shape and the terms per element.
void limit(const Shape& shape, std::uint64_t terms, const std::string& where) {
  if (elements(shape) > kMostElements)
    fail(where, "gives [{}] numbers, allowed {} in all", fmt::join(shape, ", "), kMostElements);
  if (bounded_product(elements(shape), terms) > kMostTerms)
    fail(where, "found {} connections to each of {} numbers, allowed {} in all", terms,
         elements(shape), kMostTerms);
}

LinearNode dense(const NirNode& node, const Shape& input, const std::string& where) {
  const NirParameter& weight = parameter(node, "weight", where);
  if (weight.shape.size() != 2 || weight.shape[1] != elements(input)) {
    fail(where, "weight: found the shape [{}], allowed [n, {}]", fmt::join(weight.shape, ", "),
         elements(input));
  }
  LinearNode result{{{weight.shape[0]}, {}}, {}};
  limit(result.map.shape, weight.shape[1], where);
  const auto columns = static_cast<std::uint32_t>(weight.shape[1]);
  result.map.rows.resize(weight.shape[0]);
  for (std::size_t row = 0; row < weight.shape[0]; ++row) {
    result.map.rows[row].reserve(columns);
    for (std::uint32_t i = 0; i < columns; ++i)
      result.map.rows[row].push_back({i, weight.values[row * columns + i]});
  }
  if (node.type != "Affine") return result;
  result.constant = parameter(node, "bias", where).values;
  if (result.constant.size() != weight.shape[0])
    fail(where, "bias: found {} numbers, allowed {}", result.constant.size(), weight.shape[0]);
  return result;
}

LinearNode scaled(const NirNode& node, const Shape& input, const std::string& where) {
  const std::vector<double>& scale = parameter(node, "scale", where).values;
  LinearNode result{identity(input), {}};
  if (scale.size() != 1 && scale.size() != elements(input))
    fail(where, "scale: found {} numbers, allowed 1 or {}", scale.size(), elements(input));
  for (std::size_t i = 0; i < result.map.rows.size(); ++i)
    result.map.rows[i].front().weight = scale[scale.size() == 1 ? 0 : i];
  return result;
}

using Pair = std::array<std::uint64_t, 2>;

/// Reads one or two whole numbers, for height and width; a sequence has a width only.
Pair pair(const NirNode& node, const std::string& name, bool sequence, std::uint64_t least,
          const std::string& where) {
  const NirParameter& found = parameter(node, name, where);
  const auto whole = [&](double value) {
    constexpr double kMost = 65536;
    if (!(value >= static_cast<double>(least) && value <= kMost) || value != std::floor(value))
      fail(where, "{}: found {}, allowed whole numbers from {} to {}", name, value, least, kMost);
    return static_cast<std::uint64_t>(value);
  };
  if (found.values.empty() || found.values.size() > (sequence ? 1U : 2U))
    fail(where, "{}: found {} numbers, allowed {}", name, found.values.size(),
         sequence ? "1" : "1 or 2");
  const std::uint64_t last = whole(found.values.back());
  return {sequence ? (name == "padding" ? 0 : 1) : whole(found.values.front()), last};
}

/// A window that slides over multi-channel images.
struct Window {
  Pair size, stride, dilation{1, 1}, padding;
  Pair image;  ///< height and width

  [[nodiscard]] std::uint64_t extent(std::size_t axis) const {
    return dilation.at(axis) * (size.at(axis) - 1) + 1;
  }
  [[nodiscard]] std::uint64_t steps(std::size_t axis) const {
    return (image.at(axis) + 2 * padding.at(axis) - extent(axis)) / stride.at(axis) + 1;
  }
  /// Calls use(index in the window, index in the image), both flat, for one output position.
  template <class Use>
  void at(std::uint64_t y, std::uint64_t x, const Pair& before, Use use) const {
    for (std::uint64_t i = 0; i < size[0]; ++i) {
      for (std::uint64_t j = 0; j < size[1]; ++j) {
        const std::uint64_t row = y * stride[0] + i * dilation[0] - before[0];  // wraps below 0
        const std::uint64_t column = x * stride[1] + j * dilation[1] - before[1];
        if (row < image[0] && column < image[1]) use(i * size[1] + j, row * image[1] + column);
      }
    }
  }
};

/// Channels, height and width of `input`; a sequence has height 1.
std::array<std::uint64_t, 3> image_of(const Shape& input, bool sequence, const std::string& where) {
  if (input.size() != (sequence ? 2U : 3U))
    fail(where, "its input has the shape [{}], allowed {}", fmt::join(input, ", "),
         sequence ? "[channels, length]" : "[channels, height, width]");
  return {input[0], sequence ? 1 : input[1], input.back()};
}

void require_fits(const Window& window, const std::string& where) {
  for (const std::size_t axis : {0U, 1U}) {
    if (window.image.at(axis) + 2 * window.padding.at(axis) < window.extent(axis))
      fail(where, "a window of {} does not fit an image of {} with a padding of {}",
           window.extent(axis), window.image.at(axis), window.padding.at(axis));
  }
}

LinearNode convolution(const NirNode& node, const Shape& input, const std::string& where) {
  const bool sequence = node.type == "Conv1d";
  const auto [channels, height, width] = image_of(input, sequence, where);
  const std::uint64_t pixels = height * width;
  const NirParameter& weight = parameter(node, "weight", where);
  const std::uint64_t groups = pair(node, "groups", true, 1, where)[1];
  if (weight.shape.size() != (sequence ? 3U : 4U) || weight.values.empty() ||
      bounded_product(weight.shape[1], groups) != channels || weight.shape[0] % groups != 0)
    fail(where, "weight: found the shape [{}] for {} channels in {} groups",
         fmt::join(weight.shape, ", "), channels, groups);
  Window window{{sequence ? 1 : weight.shape[2], weight.shape.back()},
                pair(node, "stride", sequence, 1, where),
                pair(node, "dilation", sequence, 1, where),
                {},
                {height, width}};
  const std::string& text = parameter(node, "padding", where).text;
  Pair before{};
  if (text == "same") {
    // Pads by extent - 1 in all, the odd one at the end, so that the output keeps the image's size.
    if (window.stride != Pair{1, 1}) fail(where, "padding: 'same' wants a stride of 1");
    for (const std::size_t axis : {0U, 1U}) before.at(axis) = (window.extent(axis) - 1) / 2;
  } else if (text.empty()) {
    window.padding = before = pair(node, "padding", sequence, 0, where);
  } else if (text != "valid") {
    fail(where, "padding: found '{}', allowed same, valid or numbers", text);
  }
  if (text != "same") require_fits(window, where);
  const std::uint64_t rows = text == "same" ? height : window.steps(0);
  const std::uint64_t columns = text == "same" ? width : window.steps(1);
  const std::uint64_t filters = weight.shape[0], depth = weight.shape[1];
  const std::uint64_t area = window.size[0] * window.size[1];
  LinearNode result{{sequence ? Shape{filters, columns} : Shape{filters, rows, columns}, {}}, {}};
  limit(result.map.shape, bounded_product(depth, area), where);
  for (std::uint64_t filter = 0; filter < filters; ++filter) {
    const std::uint64_t first = filter / (filters / groups) * depth;  // its group's first input
    for (std::uint64_t place = 0; place < rows * columns; ++place) {
      std::vector<Term>& terms = result.map.rows.emplace_back();
      for (std::uint64_t channel = 0; channel < depth; ++channel) {
        window.at(place / columns, place % columns, before,
                  [&](std::uint64_t inside, std::uint64_t pixel) {
                    terms.push_back({static_cast<std::uint32_t>((first + channel) * pixels + pixel),
                                     weight.values[(filter * depth + channel) * area + inside]});
                  });
      }
    }
  }
  const std::vector<double>& bias = parameter(node, "bias", where).values;
  if (bias.size() != filters && bias.size() != 1)
    fail(where, "bias: found {} numbers, allowed {}", bias.size(), filters);
  for (std::uint64_t i = 0; i < filters * rows * columns; ++i)
    result.constant.push_back(bias[bias.size() == 1 ? 0 : i / (rows * columns)]);
  return result;
}

LinearNode pooling(const NirNode& node, const Shape& input, const std::string& where) {
  const auto [channels, height, width] = image_of(input, false, where);
  const std::uint64_t pixels = height * width;
  const Window window{pair(node, "kernel_size", false, 1, where),
                      pair(node, "stride", false, 1, where),
                      {1, 1},
                      pair(node, "padding", false, 0, where),
                      {height, width}};
  require_fits(window, where);
  const std::uint64_t area = window.size[0] * window.size[1];
  const double weight = node.type == "AvgPool2d" ? 1.0 / static_cast<double>(area) : 1.0;
  const std::uint64_t rows = window.steps(0), columns = window.steps(1);
  LinearNode result{{{channels, rows, columns}, {}}, {}};
  limit(result.map.shape, area, where);
  for (std::uint64_t i = 0; i < channels * rows * columns; ++i) {
    std::vector<Term>& terms = result.map.rows.emplace_back();
    window.at(i % (rows * columns) / columns, i % columns, window.padding,
              [&, channel = i / (rows * columns)](std::uint64_t, std::uint64_t pixel) {
                terms.push_back({static_cast<std::uint32_t>(channel * pixels + pixel), weight});
              });
  }
  return result;
}

LinearNode unchanged(const NirNode&, const Shape& input, const std::string&) {
  return {identity(input), {}};
}

LinearNode flattened(const NirNode&, const Shape& input, const std::string&) {
  LinearNode result{identity(input), {}};
  result.map.shape = {elements(input)};
  return result;
}

using Maker = LinearNode (*)(const NirNode&, const Shape&, const std::string&);

struct LinearType {
  Maker make;
  std::vector<std::string_view> parameters;
};

const std::map<std::string, LinearType, std::less<>>& types() {
  const std::vector<std::string_view> windows{"kernel_size", "padding", "stride"};
  const std::vector<std::string_view> filters{"bias",    "dilation", "groups", "input_shape",
                                              "padding", "stride",   "weight"};
  static const std::map<std::string, LinearType, std::less<>> table{
      {"Affine", {dense, {"bias", "weight"}}},
      {"AvgPool2d", {pooling, windows}},
      {"Conv1d", {convolution, filters}},
      {"Conv2d", {convolution, filters}},
      {"Flatten", {flattened, {"end_dim", "start_dim"}}},
      {"Input", {unchanged, {"shape"}}},
      {"Linear", {dense, {"weight"}}},
      {"Output", {unchanged, {"shape"}}},
      {"Scale", {scaled, {"scale"}}},
      {"SumPool2d", {pooling, windows}}};
  return table;
}

}  // namespace

std::uint64_t elements(const Shape& shape) { return bounded_product(shape); }

LinearMap identity(const Shape& shape) {
  LinearMap map{shape, {}};
  for (std::uint32_t i = 0; i < elements(shape); ++i) map.rows.push_back({{i, 1.0}});
  return map;
}

std::optional<LinearMap> compose(const LinearMap& a, const LinearMap& b, std::uint64_t most) {
  constexpr std::uint64_t kProducts = 16;  // allowed per term, on average
  LinearMap result{b.shape, std::vector<std::vector<Term>>(b.rows.size())};
  std::map<std::uint32_t, double> row;
  std::uint64_t terms = 0, products = 0;
  for (std::size_t i = 0; i < b.rows.size(); ++i) {
    row.clear();
    for (const Term& outer : b.rows[i]) {
      for (const Term& inner : a.rows[outer.input]) row[inner.input] += outer.weight * inner.weight;
      products += a.rows[outer.input].size();
      if (products / kProducts > most) return std::nullopt;
    }
    terms += row.size();
    if (terms > most) return std::nullopt;
    for (const auto& [input, weight] : row) result.rows[i].push_back({input, weight});
  }
  return result;
}

LinearMap sum(const LinearMap& a, const LinearMap& b) {
  LinearMap result{a.shape, std::vector<std::vector<Term>>(a.rows.size())};
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    std::map<std::uint32_t, double> row;
    for (const LinearMap* map : {&a, &b})
      for (const Term& term : map->rows[i]) row[term.input] += term.weight;
    for (const auto& [input, weight] : row) result.rows[i].push_back({input, weight});
  }
  return result;
}

std::vector<NodeType> linear_types() {
  std::vector<NodeType> all;
  for (const auto& [name, type] : types()) all.push_back({name, type.parameters});
  return all;
}

bool is_linear(const std::string& type) { return types().contains(type); }

bool passes_on(const std::string& type) {
  const Maker make = types().at(type).make;
  return make == unchanged || make == flattened;
}

bool is_product(const std::string& type) { return types().at(type).make == dense; }

LinearNode linear_node(const NirNode& node, const Shape& input, const std::string& where) {
  return types().at(node.type).make(node, input, where);
}

const NirParameter& parameter(const NirNode& node, const std::string& name,
                              const std::string& where) {
  const auto found = node.parameters.find(name);
  if (found == node.parameters.end()) fail(where, "{} is missing", name);
  for (const double value : found->second.values)
    if (!std::isfinite(value)) fail(where, "{}: found {}, allowed finite numbers", name, value);
  return found->second;
}

}  // namespace tessera::data
