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

/// Calls on tiles as kernels describe them, with the inputs that determine their time.
namespace tessera::plan {

using program::Place;

using Sizes = FittedCost::Sizes;

/// A codelet as a kernel calls it: one vertex for given sizes and operands. A call's time depends
/// on its sizes only, so it is measured at few sizes (FittedCost).
struct Function {
  /// Must encode all that `vertex` captures: functions of equal name are the same function, with
  /// equal times at equal sizes in all descriptions.
  std::string name;
  std::vector<FittedCost::Axis> axes;  ///< one per size
  /// The call, on any tile. The codelet is one of the description's.
  std::function<program::Vertex(const Sizes&, std::span<const Place> operands)> vertex;
  /// Bytes of each operand, for the samples on which times are measured.
  std::function<std::vector<std::uint64_t>(const Sizes&)> operand_bytes;
  /// Contents of operands that determine a call's work (lists), for samples; absent: zeros.
  std::function<void(const Sizes&, std::size_t operand, std::span<std::byte>)> contents = {};
};

/// A call on one tile. Without a function its time is measured with the operands' contents.
struct Call {
  program::Vertex vertex;
  const Function* function = nullptr;
  Sizes sizes = {};
  std::optional<std::uint64_t> cycles = {};  ///< summed up by the kernel
  bool by_size = false;
  bool held = false;  ///< its time depends on arrays' contents before the run
};

/// The calls of one tile in a step, in order.
class Calls {
 public:
  void add(program::Vertex vertex) { all_.push_back({std::move(vertex)}); }
  /// A call whose time depends only on its constants and operand sizes: measured once for all calls
  /// with equal ones.
  void add_by_size(program::Vertex vertex) {
    all_.push_back({std::move(vertex), nullptr, {}, {}, true});
  }
  /// `function` outlives the description's readings.
  void add(const Function& function, Sizes sizes, std::initializer_list<Place> operands) {
    all_.push_back(
        {function.vertex(sizes, {operands.begin(), operands.size()}), &function, std::move(sizes)});
  }
  /// A call that takes the time of `function` at `sizes`, for any arguments.
  void add(program::Vertex vertex, const Function& function, Sizes sizes) {
    all_.push_back({std::move(vertex), &function, std::move(sizes)});
  }
  /// A call whose work depends on data: `cycles` is the kernel's sum of measured functions' times.
  void add(program::Vertex vertex, std::uint64_t cycles) {
    all_.push_back({std::move(vertex), nullptr, {}, cycles});
  }
  /// As the two above, if arrays hold that data before the run. For closely priced plans the call
  /// itself is run: unequally loaded workers may compete, and the most loaded need not be the
  /// slowest.
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
