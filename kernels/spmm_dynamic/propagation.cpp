#include "kernels/spmm_dynamic/steps.h"
#include "sim/program/any_flag.h"

namespace tessera::spmm_dynamic {

using program::ComputeSet;
using program::Exchange;
using program::Sequence;

namespace {

constexpr std::uint32_t kFlagWord = 4;
constexpr std::uint32_t kHomeOffset = 2;  // of the pool's home in its head

enum class Along : std::uint8_t { x, y };

class PropagationSteps {
 public:
  explicit PropagationSteps(Work& work) : work_(work), cells_(work.cells), grid_(work.grid()) {}

  void propagate(Sequence& steps) {
    Sequence body;
    along_y(body, 0);
    if (grid_.x > 1) {
      add_step(body, Along::x, 0);
      along_y(body, 1);
      add_step(body, Along::x, 1);
    }
    steps.steps.push_back(loop("spilled", Flag::spilled, std::move(body)));
  }

  /// The way back, in pairs of steps as the way out, so that both buffers come out even.
  void go_home(std::uint32_t codelet, Sequence& steps) {
    steps.steps.push_back({compare(codelet)});
    for (const Along along : {Along::y, Along::x}) {
      const bool x = along == Along::x;
      if ((x ? grid_.x : grid_.y) == 1) continue;
      Sequence body;
      body.steps.push_back({shift(along, 0, 1)});
      body.steps.push_back({shift(along, 1, 1)});
      body.steps.push_back({compare(codelet)});
      steps.steps.push_back(loop(x ? "away along x" : "away along y",
                                 x ? Flag::away_along_x : Flag::away_along_y, std::move(body)));
    }
  }

 private:
  /// Two steps a test, as long as a pool holds something for the part of the rows where it is.
  void along_y(Sequence& steps, int side) {
    if (grid_.y == 1) return;
    Sequence body;
    add_step(body, Along::y, side);
    add_step(body, Along::y, 1 - side);
    steps.steps.push_back(loop("spilled here", Flag::spilled_here, std::move(body)));
  }

  /// Every pool goes to the tile before its own, which computes what is for it.
  void add_step(Sequence& steps, Along along, int from) {
    const std::uint32_t length = along == Along::x ? grid_.x : grid_.y;
    steps.steps.push_back({shift(along, from, length - 1)});
    steps.steps.push_back({products(work_, "multiply spilled", 1 - from)});
  }

  /// Every pool goes `by` tiles on, from one buffer to the other.
  [[nodiscard]] Exchange shift(Along along, int from, std::uint32_t by) const {
    Exchange exchange{along == Along::x ? "shift x" : "shift y", {}};
    for (const Cell& one : cells_) {
      const Cell& to = along == Along::x ? cells_.at((one.x + by) % grid_.x, one.y, one.z)
                                         : cells_.at(one.x, (one.y + by) % grid_.y, one.z);
      exchange.copies.push_back({{one.pool[from]}, work_.bytes.pool, {{to.pool[1 - from]}}});
    }
    return exchange;
  }

  /// The tiles of a partition agree, so one of each is asked.
  program::Step loop(const std::string& name, Flag flag, Sequence body) {
    std::vector<Place> flags;
    for (const Cell& one : cells_) {
      if (one.z == 0) flags.push_back({one.flags, kFlagWord * static_cast<std::uint32_t>(flag)});
    }
    return {program::while_any(work_.assembly.program(), name, flags, std::move(body))};
  }

  [[nodiscard]] ComputeSet compare(std::uint32_t codelet) const {
    ComputeSet set{"compare with home", {}};
    constexpr auto kFirst = kFlagWord * static_cast<std::uint32_t>(Flag::away_along_y);
    for (const Cell& one : cells_) {
      set.vertices.push_back(
          {one.tile,
           codelet,
           program::Executor::supervisor,
           0,
           {Place{one.pool[0], kHomeOffset}, one.x, one.y, Place{one.flags, kFirst}}});
    }
    return set;
  }

  Work& work_;
  const Cells& cells_;
  const Grid& grid_;
};

}  // namespace

void add_propagation(Work& work) {
  if (work.grid().partitions() == 1) return;
  Sequence& steps = work.assembly.program().main();
  PropagationSteps(work).propagate(steps);
  if (work.shape().gradient)
    PropagationSteps(work).go_home(work.assembly.codelet("pool_away"), steps);
}

}  // namespace tessera::spmm_dynamic
