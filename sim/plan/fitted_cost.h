#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tessera {

/// A cost as a function of sizes, measured only where needed. Within a residue class of each size
/// the cost is taken as affine in each size if the centre of a box of small sizes costs the mean of
/// its corners, and if the cost farther along each size agrees. If not, a farther box is tried,
/// then boxes over fewer sizes; if none agrees, the cost itself is measured.
class FittedCost {
 public:
  using Sizes = std::vector<std::uint64_t>;
  using Measure = std::function<std::uint64_t(const Sizes&)>;

  struct Axis {
    std::uint64_t period = 1;  ///< distance between sizes of one class (contexts, an unrolled loop)
    std::uint64_t first = 1;   ///< smaller sizes are in no box
    std::uint64_t edge = 2;    ///< side of a box, in periods; even: its centre lies on a size too

    /// A size divided among all workers, `round` at a time: after a few rounds their loops and
    /// mutual waits are in steady state.
    static constexpr Axis shared(std::uint64_t round) { return {round, 4 * round}; }
    /// Iterations of one worker's loop: where contexts compete for issue slots, their order settles
    /// after some iterations and repeats only after many.
    static constexpr Axis turns() { return {1, 8, 32}; }
    /// A size in which the cost is not affine: each value is measured.
    static constexpr Axis measured() { return {1, std::uint64_t{1} << 32}; }
  };

  explicit FittedCost(std::vector<Axis> axes);

  /// The cost at `sizes`, one per axis. Every `measure` must give equal costs at equal sizes.
  std::uint64_t operator()(const Sizes& sizes, const Measure& measure);
  /// As above, but measured at exactly `sizes`.
  std::uint64_t exactly(const Sizes& sizes, const Measure& measure) {
    return measured_at(sizes, measure);
  }
  /// Number of measured costs.
  [[nodiscard]] std::size_t measured() const { return measured_.size(); }

 private:
  std::uint64_t find(const Sizes& sizes, const Measure& measure);

  struct Box {
    std::uint32_t axes;  ///< axes along which it has edges, as bits
    Sizes corner, centre;
    std::vector<double> edges;  ///< distance from the corner to the queried sizes, in edges
  };
  [[nodiscard]] std::optional<Box> box(const Sizes& sizes, std::uint32_t axes,
                                       std::uint64_t begin) const;
  std::optional<std::uint64_t> by(const Box& box, const Measure& measure);
  [[nodiscard]] bool goes_on(const Box& box, const Measure& measure);
  std::uint64_t measured_at(const Sizes& sizes, const Measure& measure);

  std::vector<Axis> axes_;
  std::vector<std::uint32_t> sets_;  ///< sets of axes, as bits: larger ones first
  std::map<Sizes, std::uint64_t> known_;
  std::map<Sizes, std::uint64_t> measured_;
};

}  // namespace tessera
