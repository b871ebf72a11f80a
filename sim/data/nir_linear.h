#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/data/nir_file.h"

/// The nodes of NIR graphs that have no memory, as linear functions.
namespace tessera::data {

using Shape = std::vector<std::uint64_t>;
/// 2^64 - 1 where there are more.
std::uint64_t elements(const Shape& shape);
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 22;  ///< limit of a network's tensor

/// An input's index and how much it counts.
struct Term {
  std::uint32_t input;
  double weight;
};

/// A tensor as a linear function of another's elements, both in C order: for each element its
/// terms, in rising order of input.
struct LinearMap {
  Shape shape;
  std::vector<std::vector<Term>> rows;
};

LinearMap identity(const Shape& shape);
/// b behind a; b takes what a gives. Nothing if the result has more than `most` terms, or takes
/// more than sixteen times as many products.
std::optional<LinearMap> compose(const LinearMap& a, const LinearMap& b, std::uint64_t most);
/// a + b, of one number of elements; a's shape.
LinearMap sum(const LinearMap& a, const LinearMap& b);

struct LinearNode {
  LinearMap map;
  std::vector<double> constant;  ///< added to each element; empty: nothing
};

/// A type of node, and the names of the parameters that it may have.
struct NodeType {
  std::string_view name;
  std::vector<std::string_view> parameters;
};

/// The types that linear_node() knows, in alphabetical order.
std::vector<NodeType> linear_types();
bool is_linear(const std::string& type);
/// True if a linear node only passes its input on: Flatten, Input and Output.
bool passes_on(const std::string& type);
/// True if it is a product with a matrix of its own: Affine and Linear.
bool is_product(const std::string& type);

/// The node as a function of an input of this shape. `where` (file and node) stands in UserErrors:
/// a parameter that is missing, not finite or of a wrong shape, more than 2^26 terms, more than
/// kMostElements elements.
LinearNode linear_node(const NirNode& node, const Shape& input, const std::string& where);

/// A parameter of the node; UserErrors name one that is missing or has infinities or NaN.
const NirParameter& parameter(const NirNode& node, const std::string& name,
                              const std::string& where);

}  // namespace tessera::data
