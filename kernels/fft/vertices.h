#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/codelet.h"
#include "kernels/fft/digits.h"
#include "sim/plan/pricing.h"

namespace tessera::fft {

/// One pass of a Stockham transform of `length` rows, twiddles before sums: legs `stride` rows
/// apart come in, legs length / radix rows apart go out, in order after the last pass.
struct Pass {
  std::uint32_t length;
  std::uint32_t radix;
  std::uint32_t stride;  ///< the radices behind, multiplied

  [[nodiscard]] std::uint32_t groups() const { return length / (radix * stride); }
  /// The first pass, whose twiddles are 1.
  [[nodiscard]] bool first() const { return groups() == 1; }
  /// Name of its tile code.
  [[nodiscard]] std::string codelet() const;
};

/// The passes of a phase; `first`: the first phase, with which radices begin.
std::vector<Pass> passes_of(const Plan& plan, std::uint32_t phase, std::uint32_t first = 0);

/// Transpositions between phases: pairs of rows become units, whose columns go where a list says.
struct RowPairs {
  struct Entry {
    std::uint32_t offset;  ///< bytes, of the unit of column 0
    std::uint32_t stride;  ///< bytes from column to column
  };
  std::vector<Entry> entries;
  std::uint64_t columns;
};

/// After a phase: for each taker its part of the digit, [columns][part].
RowPairs pairs_for_swap(const Digits& digits, std::uint32_t tile, std::uint32_t phase);
/// Before the first phase: arrays of a batch, which lie behind each other, become columns.
RowPairs pairs_for_batch(const Digits& digits, std::uint32_t tile);
/// After the last phase: rows of the result's fastest digit become columns. No entries where they
/// lie so already.
RowPairs pairs_for_result(const Digits& digits, std::uint32_t tile);

/// So many groups (transpositions: pairs of rows), so many units of each.
struct Work {
  std::uint64_t groups;
  std::uint64_t units;
};
Work work_of(const Pass& pass, std::uint64_t columns);

/// Makes calls of the tile code, on any tile. `unit_parts`: of the units of a group among the
/// workers; it divides their number.
class Vertices {
 public:
  Vertices(const elf::KernelCode& code, program::Program& program, std::uint32_t contexts)
      : code_(code), program_(program), contexts_(contexts) {}

  /// `pass` over rows of `columns` points.
  [[nodiscard]] program::Vertex pass(const Pass& pass, std::uint64_t columns, Direction direction,
                                     BufferId twiddles, BufferId in, BufferId out,
                                     std::uint32_t unit_parts) const;
  /// A transposition of `pairs` pairs of rows of `columns` points, to where `list` (RowPairs'
  /// entries) says; with `twiddles`, laid out as `in`, or without (null).
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

/// The tile code as functions whose sizes are a worker's share: groups, units. `code` outlives the
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

/// How vertices are best divided among workers, and their cycles then. Remembers its answers.
class Division {
 public:
  struct Answer {
    std::uint32_t unit_parts;
    std::uint64_t cycles;
  };
  Answer best(const Functions& functions, const plan::Function& function, const Work& work);
  /// Sets the pricing that it asks; null: it answers from what it asked before.
  void ask(plan::Pricing* pricing) { pricing_ = pricing; }

 private:
  plan::Pricing* pricing_ = nullptr;
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, Answer> known_;
};

/// Numbers of a pass's twiddles, and their bytes.
void fill_twiddles(const Pass& pass, Direction direction, std::span<std::byte> into);
std::uint32_t twiddle_bytes(const Pass& pass);

}  // namespace tessera::fft
