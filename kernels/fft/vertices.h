#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/codelet.h"
#include "kernels/fft/digits.h"
#include "sim/plan/pricing.h"

namespace tessera::fft {

/// One pass of a Stockham transform of `length` rows, with twiddles before sums: it reads legs
/// `stride` rows apart and writes legs length / radix rows apart; after the last pass rows are in
/// order.
struct Pass {
  std::uint32_t length;
  std::uint32_t radix;
  std::uint32_t stride;  ///< product of the radices of the following passes

  [[nodiscard]] std::uint32_t groups() const { return length / (radix * stride); }
  /// True for the first pass, whose twiddles are 1.
  [[nodiscard]] bool first() const { return groups() == 1; }
  /// Name of the pass's tile code.
  [[nodiscard]] std::string codelet() const;
};

/// The passes of a phase; `first`: the phase with which the plan's radices begin.
std::vector<Pass> passes_of(const Plan& plan, std::uint32_t phase, std::uint32_t first = 0);

/// Transpositions between phases: pairs of rows become units, whose columns go to places given by a
/// list.
struct RowPairs {
  struct Entry {
    std::uint32_t offset;  ///< byte offset of the unit of column 0
    std::uint32_t stride;  ///< byte pitch of columns
  };
  std::vector<Entry> entries;
  std::uint64_t columns;
};

/// After a phase: for each receiving tile its part of the digit, [columns][part].
RowPairs pairs_for_swap(const Digits& digits, std::uint32_t tile, std::uint32_t phase);
/// Before the first phase: contiguous arrays of a batch become columns.
RowPairs pairs_for_batch(const Digits& digits, std::uint32_t tile);
/// After the last phase: rows of the result's fastest digit become columns. Empty if they are
/// contiguous already.
RowPairs pairs_for_result(const Digits& digits, std::uint32_t tile);

/// Number of groups (transpositions: pairs of rows), and of units of each.
struct Work {
  std::uint64_t groups;
  std::uint64_t units;
};
Work work_of(const Pass& pass, std::uint64_t columns);

/// Makes calls of the tile code, on any tile. `unit_parts`: number of parts of a group's units
/// among workers; a divisor of the number of workers.
class Vertices {
 public:
  Vertices(const elf::KernelCode& code, program::Program& program, std::uint32_t contexts)
      : code_(code), program_(program), contexts_(contexts) {}

  /// `pass` over rows of `columns` points.
  [[nodiscard]] program::Vertex pass(const Pass& pass, std::uint64_t columns, Direction direction,
                                     BufferId twiddles, BufferId in, BufferId out,
                                     std::uint32_t unit_parts) const;
  /// A transposition of `pairs` pairs of rows of `columns` points to the places in `list`
  /// (RowPairs' entries); with `twiddles`, in the layout of `in`, or without (null).
  [[nodiscard]] program::Vertex transposition(std::uint64_t pairs, std::uint64_t columns,
                                              const BufferId* twiddles, BufferId list, BufferId in,
                                              BufferId out, std::uint32_t unit_parts) const;

  [[nodiscard]] std::uint32_t contexts() const { return contexts_; }
  /// The busiest worker's part of `work`.
  [[nodiscard]] Work share(const Work& work, std::uint32_t unit_parts) const {
    return {ceil_div(work.groups, std::uint64_t{contexts_ / unit_parts}),
            ceil_div(work.units, std::uint64_t{unit_parts})};
  }

 private:
  const elf::KernelCode& code_;
  program::Program& program_;
  std::uint32_t contexts_;
};

/// Tile code as functions whose sizes are a worker's share: groups, units. `code` must outlive the
/// description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, std::uint32_t contexts)
      : description_(description), vertices_(code, *description.code(), contexts) {}

  const plan::Function& pass(const Pass& pass);
  const plan::Function& transposition(bool turns);

  [[nodiscard]] const Vertices& vertices() const { return vertices_; }
  [[nodiscard]] const plan::Description& description() const { return description_; }

 private:
  plan::Description& description_;
  Vertices vertices_;
};

/// The best division of vertices among workers, and its cycles. Caches its answers.
class Division {
 public:
  struct Answer {
    std::uint32_t unit_parts;
    std::uint64_t cycles;
  };
  Answer best(const Functions& functions, const plan::Function& function, const Work& work);
  /// Sets the pricing; null: only cached answers are given.
  void ask(plan::Pricing* pricing) { pricing_ = pricing; }

 private:
  plan::Pricing* pricing_ = nullptr;
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, Answer> known_;
};

/// Writes a pass's twiddles; their size in bytes.
void fill_twiddles(const Pass& pass, Direction direction, std::span<std::byte> into);
std::uint32_t twiddle_bytes(const Pass& pass);

}  // namespace tessera::fft
