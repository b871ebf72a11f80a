#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/spmm_static/steps.h"

/// The steps of one product in a program, which may have others before and after it.
namespace tessera::spmm_static {

/// Which steps of a product count as measured; the others run all the same.
enum class Region : std::uint8_t { all, multiply, add };

/// Values of W in one buffer, by their numbers in the deal.
struct HeldValues {
  BufferId buffer;
  kernels::Interval numbers;
};

/// The numbers of values of W that each tile, or where they lie where they are needed each share,
/// is given.
std::vector<kernels::Interval> values_given(const Partition& partition);

class Product {
 public:
  /// Partition and W outlive the program. Steps are called after `name` and what they do.
  Product(Assembly& assembly, const Partition& partition, const sparse::BlockMatrix& w,
          std::string name = "", Region region = Region::all);

  /// Values that steps before make, by tile, as Partition::value_storage lays them out; without,
  /// those of W lie on the tiles before the run.
  void take_values(std::vector<BufferId> values) { values_ = std::move(values); }
  /// Steps that change the values of W where they are given, before the first that takes them;
  /// called once.
  using Change = std::function<void(const std::vector<HeldValues>&)>;
  void change_values(Change change) { change_ = std::move(change); }
  /// W X for the rows of X that stand in `x` into `results`, as Partition::y_storage lays them out.
  /// Called again for further columns, W stays where the first call brought it.
  void add_steps(const BuffersOfRows& x, const std::vector<BufferId>& results);

 private:
  void add_values();
  void add_tiles();
  [[nodiscard]] std::vector<HeldValues> given_values() const;
  void multiply(const BuffersOfRows& x);
  void add_up(const std::vector<BufferId>& results);
  void add_received();
  [[nodiscard]] std::vector<BufferId> zeros();
  [[nodiscard]] Assembly::Fill values_from(std::uint64_t first) const;
  template <class Action>
  void add_step(Action action, bool measured) {
    action.name.insert(0, name_);
    assembly_.add_step(std::move(action), measured);
  }

  Assembly& assembly_;
  const Partition& partition_;
  const sparse::BlockMatrix& w_;
  std::string name_;
  Region region_;
  Reduction reduction_;
  Change change_;
  std::vector<BufferId> values_;           ///< by tile, if they are brought
  std::vector<BufferId> received_, sums_;  ///< by destination
  TilesOfParts tiles_;
};

}  // namespace tessera::spmm_static
