#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/fitted_cost.h"
#include "sim/program/program.h"

/// The calls on tiles as kernels describe them, with the inputs that decide their time.
namespace tessera::plan {

using program::Place;

using Sizes = FittedCost::Sizes;

/// A codelet as a kernel calls it: one vertex for given sizes and operands. The time of a call is
/// that of its sizes alone, so it is measured at few of them (FittedCost).
struct Function {
  /// Holds all that `vertex` captures: functions of one name are one function, and take the same
  /// time at the same sizes in all descriptions.
  std::string name;
  std::vector<FittedCost::Axis> axes;  ///< one a size
  /// The call, on any tile. The codelet is one of the description's.
  std::function<program::Vertex(const Sizes&, std::span<const Place> operands)> vertex;
  /// Bytes of each operand, for samples that times are measured on.
  std::function<std::vector<std::uint64_t>(const Sizes&)> operand_bytes;
  /// Contents of operands that decide what a call does (lists), for samples; absent: zeros.
  std::function<void(const Sizes&, std::size_t operand, std::span<std::byte>)> contents = {};
};

/// A call on one tile. Without a function its time is measured with the operands' contents.
struct Call {
  program::Vertex vertex;
  const Function* function = nullptr;
  Sizes sizes = {};
  std::optional<std::uint64_t> cycles = {};  ///< added up by the kernel
  bool by_size = false;
  bool held = false;  ///< its arrays' contents before the run decide its time
};

/// The calls of one tile in a step, in order.
class Calls {
 public:
  void add(program::Vertex vertex) { all_.push_back({std::move(vertex)}); }
  /// A call whose time its constants and the sizes of its operands decide: measured once for all
  /// calls that have the same.
  void add_by_size(program::Vertex vertex) {
    all_.push_back({std::move(vertex), nullptr, {}, {}, true});
  }
  /// `function` outlives the description's readings.
  void add(const Function& function, Sizes sizes, std::initializer_list<Place> operands) {
    all_.push_back(
        {function.vertex(sizes, {operands.begin(), operands.size()}), &function, std::move(sizes)});
  }
  /// A call that takes the time of `function` at `sizes`, whatever its arguments are.
  void add(program::Vertex vertex, const Function& function, Sizes sizes) {
    all_.push_back({std::move(vertex), &function, std::move(sizes)});
  }
  /// A call whose work data decide: the kernel adds its time up from calls of functions, which the
  /// machine was asked for.
  void add(program::Vertex vertex, std::uint64_t cycles) {
    all_.push_back({std::move(vertex), nullptr, {}, cycles});
  }
  /// As the two above, where arrays hold that data before the run. For plans that are priced
  /// closely the call itself is run: workers of unequal work may compete, and the one of most work
  /// need not be the slowest.
  void add_held(program::Vertex vertex, std::uint64_t cycles) {
    all_.push_back({std::move(vertex), nullptr, {}, cycles, false, true});
  }
  void add_held(program::Vertex vertex, const Function& function, Sizes sizes) {
    all_.push_back({std::move(vertex), &function, std::move(sizes), {}, false, true});
  }
  [[nodiscard]] std::vector<Call>& all() { return all_; }

 private:
  std::vector<Call> all_;
};

}  // namespace tessera::plan
