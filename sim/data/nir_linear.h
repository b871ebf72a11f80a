#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/data/nir_file.h"

/// The stateless nodes of NIR graphs as linear functions.
namespace tessera::data {

using Shape = std::vector<std::uint64_t>;
/// Product of the extents, saturated at 2^64 - 1.
std::uint64_t elements(const Shape& shape);
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 22;  ///< limit of a network's tensor

/// An input's index and its weight.
struct Term {
  std::uint32_t input;
  double weight;
};

/// A tensor as a linear function of another's elements, both in C order: the terms of each element,
/// in ascending order of input.
struct LinearMap {
  Shape shape;
  std::vector<std::vector<Term>> rows;
};

LinearMap identity(const Shape& shape);
/// Applies a, then b; b's inputs are a's elements. Nullopt if the result has more than `most`
/// terms, or needs more than sixteen times as many products.
std::optional<LinearMap> compose(const LinearMap& a, const LinearMap& b, std::uint64_t most);
/// a + b, which have the same number of elements; the result has a's shape.
LinearMap sum(const LinearMap& a, const LinearMap& b);

struct LinearNode {
  LinearMap map;
  std::vector<double> constant;  ///< added to each element; empty: no constant
};

/// A type of node and the names of its parameters.
struct NodeType {
  std::string_view name;
  std::vector<std::string_view> parameters;
};

/// The types that linear_node() knows, in alphabetical order.
std::vector<NodeType> linear_types();
bool is_linear(const std::string& type);
/// True if a linear node returns its input unchanged: Flatten, Input and Output.
bool passes_on(const std::string& type);
/// True if the node multiplies by a matrix of its own: Affine and Linear.
bool is_product(const std::string& type);

/// The node as a function of an input of this shape. UserErrors name `where` (file and node): a
/// parameter that is missing, not finite or of a wrong shape, more than 2^26 terms, more than
/// kMostElements elements.
LinearNode linear_node(const NirNode& node, const Shape& input, const std::string& where);

/// A parameter of the node; throws UserError if it is missing or has infinities or NaN.
const NirParameter& parameter(const NirNode& node, const std::string& name,
                              const std::string& where);

}  // namespace tessera::data
