#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace tessera {

/// A cost as a function of sizes, measured where it must be. Along each size it is taken as affine
/// within a residue class once a third measured point lies on the line through two others; if it
/// does not, farther points are tried, and if those do not agree either, every size is measured.
class FittedCost {
 public:
  using Sizes = std::vector<std::uint64_t>;
  using Measure = std::function<std::uint64_t(const Sizes&)>;

  struct Axis {
    std::uint64_t period = 1;  ///< sizes of one class are so far apart (contexts, an unrolled loop)
    std::uint64_t first = 1;   ///< smaller ones are always measured
  };

  FittedCost(std::vector<Axis> axes, Measure measure)
      : axes_(std::move(axes)), measure_(std::move(measure)) {}

  /// The cost at `sizes`, one an axis.
  std::uint64_t operator()(const Sizes& sizes) { return along(0, sizes); }
  /// How many costs were measured.
  [[nodiscard]] std::size_t measured() const { return measured_.size(); }

 private:
  std::uint64_t along(std::size_t axis, const Sizes& sizes);
  std::uint64_t fitted(std::size_t axis, const Sizes& sizes);
  std::uint64_t measure(const Sizes& sizes);

  std::vector<Axis> axes_;
  Measure measure_;
  std::map<std::pair<std::size_t, Sizes>, std::uint64_t> known_;
  std::map<Sizes, std::uint64_t> measured_;
};

}  // namespace tessera
