#include <algorithm>
#include <cmath>

#include "kernels/sparse/code/relayout.h"
#include "kernels/spmm_dynamic/plan.h"
#include "sim/machine/code_cost.h"

// Predicted cycles: machine constants times the length of the tile code, which is counted here.
namespace tessera::spmm_dynamic {

namespace {

// Instructions of the supervisor beside the workers' runs (codelets_blocks.S, walk.inc).
constexpr std::uint64_t kWalkInstructions = 16;   // of a call, and of its end
constexpr std::uint64_t kGroupInstructions = 26;  // that takes a sub-group
constexpr std::uint64_t kRowInstructions = 3;
constexpr std::uint64_t kBlockInstructions = 2;
// Slots of workers.
constexpr std::uint64_t kSetUpSlots = 12;
constexpr std::uint64_t kRowRunSlots = 2;
constexpr std::uint64_t kBlockRunSlots = 8;
constexpr std::uint64_t kPartSlots = 26;  // of an element codelet, a sub-group
constexpr std::uint64_t kPassSlots = 7;
constexpr std::uint64_t kDotSlots = 11;  // of an element of a gradient beside its columns
constexpr std::uint64_t kAddSlots = 20;  // of adding up or packing

class Cost {
 public:
  Cost(const Problem& problem, const PoolShape& pool, const MachineConfig& machine,
       const Load* load)
      : even_(problem.algorithm == Algorithm::published),
        problem_(problem),
        shape_(problem.shape),
        pool_(pool),
        grid_(pool.grid),
        machine_(machine),
        code_(machine.tile),
        bytes_(problem, pool),
        load_(load) {}

  Prediction predict() {
    if (shape_.natural()) rows_in();
    distribute();
    propagate();
    reduce();
    if (shape_.natural() && !shape_.gradient) rows_out();
    p_.sync_cycles += machine_.sync.chip_cycles;  // behind the last step
    p_.cycles = p_.compute_cycles + p_.exchange_cycles + p_.sync_cycles;
    return p_;
  }

 private:
  [[nodiscard]] double partitions() const { return grid_.partitions(); }
  [[nodiscard]] double mean_blocks() const {
    return static_cast<double>(problem_.max_blocks) / partitions();
  }
  /// Blocks of the fullest partition of a uniform pattern: Bernstein's bound where it leaves one
  /// partition.
  [[nodiscard]] double most_blocks() const {
    if (load_ != nullptr) return static_cast<double>(load_->most_blocks);
    if (even_) return mean_blocks();
    const double l = std::log(partitions());
    return mean_blocks() + std::sqrt(2 * mean_blocks() * l) + l / 3;
  }
  [[nodiscard]] double room() const {
    return static_cast<double>(bucket_blocks(problem_, grid_) * grid_.z);
  }

  [[nodiscard]] std::uint64_t run(std::uint64_t slots) const { return code_.run_even(slots); }

  /// From launch to join of what `blocks` blocks in `rows` rows take on a tile.
  [[nodiscard]] double compute(double blocks, double rows) const {
    if (shape_.gradient) return gradient(blocks, rows);
    return shape_.block == 1 ? elements(blocks, rows) : products(blocks, rows);
  }

  [[nodiscard]] double products(double blocks, double rows) const {
    const sparse::BlockRun unit = shape_.run();
    const std::uint64_t runs = shape_.halves_inputs() || shape_.halves_outputs() ? 2 : 1;
    const std::uint64_t positions = ceil_div(grid_.columns, machine_.tile.contexts);
    const std::uint64_t unit_slots = gemm::unit_slots(machine_.tile.matrix_unit, shape_.unit());
    const std::uint64_t slots =
        kBlockRunSlots + (positions * unit.phases + std::uint64_t{2} * unit.outputs) * unit_slots;
    const std::uint64_t load =
        unit.weight_rows * code_.load_weights(std::uint64_t{unit.weight_words} * kWord);
    const std::uint64_t block =
        runs * (load + run(slots)) + code_.branch() + code_.plain(kBlockInstructions);
    const std::uint64_t row = run(kRowRunSlots) + code_.branch() + code_.plain(kRowInstructions);
    return blocks * static_cast<double>(block) + rows * static_cast<double>(row);
  }

  [[nodiscard]] double elements(double blocks, double rows) const {
    const double pair = unit_blocks(shape_);
    const double units = blocks / pair + (pair > 1 ? rows / 2 : 0);
    const double unit = shape_.type == Type::f16 ? 7 : 3;
    const double row = shape_.type == Type::f16 ? 18 : 14;
    const double all = (units * unit + rows * row) * pool_.passes();
    return on_workers(all) +
           static_cast<double>(run(kPartSlots + std::uint64_t{kPassSlots} * pool_.passes()));
  }

  [[nodiscard]] double gradient(double blocks, double rows) const {
    const std::uint32_t words = grid_.columns * shape_.bytes() / kWord;
    const double area = shape_.block * shape_.block;
    const double element = words + static_cast<double>(kDotSlots);
    const double all = blocks * (area * element + 3 * shape_.block + 5) + 4 * rows;
    return on_workers(all) + static_cast<double>(run(kPartSlots));
  }

  /// Slots that the workers share evenly.
  [[nodiscard]] double on_workers(double slots) const {
    return machine_.tile.issue == "barrel" ? slots : slots / machine_.tile.contexts;
  }

  void superstep(std::uint64_t received) {
    p_.sync_cycles += machine_.sync.chip_cycles;
    p_.exchange_cycles +=
        machine_.fabric.fixed_cycles +
        ceil_div<std::uint64_t>(received, machine_.fabric.receive_bytes_per_cycle);
  }

  [[nodiscard]] double full_rows(double blocks) const {
    const double rows = ceil_div(problem_.block_rows, grid_.x);
    return rows * (1 - std::exp(-blocks / rows));
  }

  void rows_in() {
    superstep(bytes_.x_slice + bytes_.y_slice);
    if (shape_.x_depth() > 1) turn(bytes_.x_slice / kWord, shape_.x_depth());
  }

  void rows_out() {
    if (shape_.y_depth() > 1)
      turn(std::uint64_t{bytes_.part_chunks()} * kChunkBytes / shape_.partial_bytes() /
               shape_.lanes(),
           shape_.y_depth());
    superstep(row_storage(problem_, grid_, problem_.block_rows).each());
  }

  void turn(std::uint64_t words, std::uint32_t depth) {
    const sparse::Chunked part{{0, words * shape_.lanes()}, depth, grid_.columns, {}};
    const auto workers =
        sparse::transpositions(part, shape_.bytes(), sparse::Direction::to_blocks, pool_.contexts);
    std::uint64_t most = 0;
    for (const auto& runs : workers)
      most = std::max(most, sparse::transposing_slots(runs, shape_.bytes()));
    p_.compute_cycles += run(most);
  }

  void distribute() {
    const bool sharing = machine_.fabric.pair_sharing;
    std::uint64_t received = 0;
    const bool pools = grid_.shares_pool();
    if (grid_.x > 1)
      received += bytes_.x / (sharing && grid_.shares_x() && grid_.x % 2 == 0 ? 2 : 1);
    if (grid_.z > 1) {
      const bool shared = sharing && pools && grid_.z % 2 == 0;
      received += bytes_.pool_slice * std::uint64_t{grid_.z} / (shared ? 2 : 1);
    }
    if (shape_.gradient && grid_.y > 1) received += bytes_.y;
    superstep(received);
    const double own = std::min(most_blocks(), room());
    if (!shape_.gradient)
      p_.compute_cycles += run(kAddSlots + ceil_div(bytes_.y / kWord, machine_.tile.contexts));
    p_.compute_cycles += run(kSetUpSlots) + walk() + code_.plain(kGroupInstructions) +
                         static_cast<std::uint64_t>(compute(own, full_rows(own)));
  }

  [[nodiscard]] std::uint64_t walk() const { return code_.plain(kWalkInstructions) + 2 * stall(); }

  [[nodiscard]] std::uint64_t stall() const {
    return machine_.tile.supervisor.load_use_stall_cycles;
  }

  void test() {
    const auto flags = static_cast<std::uint64_t>(std::sqrt(partitions()) + 1);
    const bool grouped = grid_.partitions() > 64;
    for (int i = 0; i < (grouped ? 2 : 1); ++i) {
      superstep(4 * (grouped ? flags : grid_.partitions()));
      p_.compute_cycles += code_.plain(2 * flags) + 4 * stall();
    }
  }

  /// One test if nothing is expected to spill; else a pair of steps along y and the tests around.
  void propagate() {
    if (grid_.partitions() == 1) return;
    if (load_ != nullptr) return travel();
    test();
    const double spilled = most_blocks() - room();
    if (spilled <= 0) return;
    // Gradients of values compare with home, and go back.
    for (int i = 0; i < (shape_.gradient ? 7 : 3); ++i) test();
    const int steps = (grid_.x > 1 ? 4 : 2) * (shape_.gradient ? 2 : 1);
    for (int i = 0; i < steps; ++i) {
      superstep(bytes_.pool);
      p_.compute_cycles += run(kSetUpSlots) + walk();
    }
    p_.compute_cycles += static_cast<std::uint64_t>(compute(spilled, full_rows(spilled)));
  }

  /// The loops of propagation.cpp for steps that are known. Gradients of values compare with home,
  /// and go back.
  void travel() {
    const std::uint64_t steps = load_->y_steps + load_->x_steps;
    const std::uint64_t rounds = grid_.x > 1 ? load_->x_steps / 2 : steps > 0 ? 1 : 0;
    const std::uint64_t visits = (grid_.x > 1 ? 2 : 1) * rounds;
    const std::uint64_t tests = 1 + rounds + visits + load_->y_steps / 2;
    const std::uint64_t home = shape_.gradient ? 2 : 1;
    for (std::uint64_t i = 0; i < home * tests; ++i) test();
    for (std::uint64_t i = 0; i < home * steps; ++i) {
      superstep(bytes_.pool);
      p_.compute_cycles += run(kSetUpSlots) + walk();
    }
    const auto blocks = static_cast<double>(load_->step_blocks);
    p_.compute_cycles += static_cast<std::uint64_t>(compute(blocks, full_rows(blocks)));
  }

  void reduce() {
    const std::uint64_t part = bytes_.part_chunks();
    const std::uint64_t chunks = ceil_div<std::uint64_t>(part, machine_.tile.contexts);
    // Sums of one part that are results as they are move to where results lie.
    const std::uint64_t moved = bytes_.parts > 1 || shape_.mixed() ? bytes_.parts - 1 : 1;
    if (moved > 0) superstep(moved * part * kChunkBytes);
    if (bytes_.parts > 1) p_.compute_cycles += run(kAddSlots + 2 * chunks * (bytes_.parts - 1));
    if (shape_.mixed()) p_.compute_cycles += run(kAddSlots + 3 * chunks);
  }

  bool even_;
  const Problem& problem_;
  const Shape& shape_;
  const PoolShape& pool_;
  const Grid& grid_;
  const MachineConfig& machine_;
  const CodeCost code_;
  const Buffers bytes_;
  const Load* load_;
  Prediction p_;
};

}  // namespace

Prediction predict(const Problem& problem, const PoolShape& pool, const MachineConfig& machine,
                   const Load* load) {
  return Cost(problem, pool, machine, load).predict();
}

}  // namespace tessera::spmm_dynamic
