#include "kernels/fft/program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>

#include "kernels/fft/vertices.h"
#include "sim/data/element.h"

namespace tessera::fft {

namespace {

void store_point(std::span<std::byte> into, std::uint64_t offset, double real, double imaginary) {
  data::store_element(kType, into, offset / 4, real);
  data::store_element(kType, into, offset / 4 + 2, imaginary);
}

class Builder {
 public:
  /// `points`: none for a sample of tile 0.
  Builder(const Digits& digits, const std::vector<std::uint32_t>& unit_parts,
          const MachineConfig& machine, Points points)
      : digits_(std::make_shared<const Digits>(digits)),
        unit_parts_(unit_parts),
        points_(std::move(points)),
        natural_(digits.problem().layout == Layout::natural),
        used_(sample() ? 1 : digits.tiles()),
        all_(sample() ? 1 : machine.tiles),
        stretches_(digits.problem().total() * kPointBytes, kUnitBytes, machine.tiles),
        program_(all_),
        code_("fft"),
        vertices_(code_, program_, machine.tile.contexts) {}

  program::Program build() {
    add_buffers();
    if (natural_) add_inputs();
    const std::uint32_t first = digits_->first_phase();
    for (std::uint32_t phase = first; phase < digits_->phases(); ++phase) {
      for (const Pass& pass : passes_of(digits_->plan(), phase, first)) add_pass(phase, pass);
      if (phase + 1 < digits_->phases()) add_swap(phase);
    }
    if (natural_) add_results();
    end_set();
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool sample() const { return !points_; }

  // --- buffers ---------------------------------------------------------------------------------
  BufferId add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name, bool keep,
                      std::function<void(std::span<std::byte>)> contents = {}) {
    // What is given before the run lies there from the start, in a sample too.
    if (sample() && contents) contents = [](std::span<std::byte>) {};
    return program_.add_buffer(
        {TileId(tile), bytes, 8, keep, program::Category::tensors, std::move(contents), name});
  }

  /// The results' first. Transforms begin where they will end.
  void add_buffers() {
    if (natural_) {
      for (std::uint32_t t = 0; t < all_; ++t)
        results_.push_back(add_buffer(t, stretch_bytes(t), "result", true));
    }
    const bool swapped = moves() % 2 == 1;
    for (const bool other : {false, true}) {
      std::vector<BufferId>& rows = swapped == other ? from_ : to_;
      for (std::uint32_t t = 0; t < used_; ++t) {
        const bool given = !natural_ && swapped == other;
        // As large as the fullest tile's, so that all are packed as the plan expects.
        const std::uint64_t held = digits_->most_held(natural_ ? 0 : t);
        rows.push_back(add_buffer(t, held * kPointBytes, "points", !natural_ && !other,
                                  given ? blocked_input(t) : decltype(blocked_input(t)){}));
      }
    }
  }

  [[nodiscard]] std::uint64_t stretch_bytes(std::uint32_t tile) const {
    const std::uint64_t bytes = stretches_.bytes_on(tile);
    if (!sample()) return bytes;
    return std::max(bytes, digits_->most_held(0) * kPointBytes);
  }

  /// How often points go from one buffer to the other.
  [[nodiscard]] std::uint32_t moves() const {
    const Plan& plan = digits_->plan();
    auto count = static_cast<std::uint32_t>(plan.radices.size());
    for (std::size_t axis = digits_->first_phase(); axis < plan.parts.size(); ++axis)
      count += plan.parts[axis] == 1 ? 1 : 2;
    return count;
  }

  std::function<void(std::span<std::byte>)> blocked_input(std::uint32_t tile) const {
    return [digits = digits_, points = points_, tile](std::span<std::byte> into) {
      std::fill(into.begin(), into.end(), std::byte{});
      std::uint64_t at = 0;
      digits->for_points(tile, digits->first_phase(), [&](std::span<const std::uint32_t> values) {
        const auto [real, imaginary] = points(digits->input(values));
        store_point(into, point_offset(*digits, at++), static_cast<double>(real),
                    static_cast<double>(imaginary));
      });
    };
  }

  // --- steps -----------------------------------------------------------------------------------
  template <class Action>
  void add_step(Action action) {
    program_.main().steps.push_back({std::move(action)});
  }
  void end_set() {
    if (set_.vertices.empty()) return;
    add_step(std::move(set_));
    set_ = {"transform", {}};
  }
  void add_exchange(program::Exchange exchange) {
    end_set();
    add_step(std::move(exchange));
  }

  void add_pass(std::uint32_t phase, const Pass& pass) {
    const std::uint32_t parts = unit_parts_[vertex_++];
    for (std::uint32_t t = 0; t < used_; ++t) {
      BufferId twiddles{};
      if (!pass.first())
        twiddles =
            add_buffer(t, twiddle_bytes(pass), "twiddles", false,
                       [pass, direction = digits_->problem().direction](std::span<std::byte> into) {
                         fill_twiddles(pass, direction, into);
                       });
      set_.vertices.push_back(vertices_.pass(TileId(t), pass, digits_->columns(t, phase),
                                             digits_->problem().direction, twiddles, from_[t],
                                             to_[t], parts));
    }
    std::swap(from_, to_);
  }

  /// exp(-+2 pi i e) for every point, as they lie.
  BufferId add_turns(std::uint32_t tile, std::uint32_t phase) {
    const auto fill = [digits = digits_, tile, phase](std::span<std::byte> into) {
      const std::uint64_t whole = digits->turn_whole(phase);
      const double step =
          digits->problem().sign() * 2 * std::numbers::pi / static_cast<double>(whole);
      std::uint64_t at = 0;
      digits->for_points(tile, phase, [&](std::span<const std::uint32_t> values) {
        const double angle = step * static_cast<double>(digits->turn(phase, values) % whole);
        store_point(into, point_offset(*digits, at++), std::cos(angle), std::sin(angle));
      });
    };
    return add_buffer(tile, digits_->held(tile, phase) * kPointBytes, "turns", false, fill);
  }

  /// `pairs_of`: the pairs of rows of a tile.
  template <class PairsOf>
  void add_transposition(const PairsOf& pairs_of, const std::uint32_t* turned_phase) {
    const std::uint32_t parts = unit_parts_[vertex_++];
    for (std::uint32_t t = 0; t < used_; ++t) {
      RowPairs pairs = pairs_of(t);
      const std::uint64_t count = pairs.entries.size();
      const std::uint64_t columns = pairs.columns;
      const BufferId list =
          add_buffer(t, count * sizeof(RowPairs::Entry), "list", false,
                     [entries = std::move(pairs.entries)](std::span<std::byte> into) {
                       std::memcpy(into.data(), entries.data(), into.size());
                     });
      BufferId turns{};
      if (turned_phase != nullptr) turns = add_turns(t, *turned_phase);
      set_.vertices.push_back(vertices_.transposition(TileId(t), count, columns,
                                                      turned_phase != nullptr ? &turns : nullptr,
                                                      list, from_[t], to_[t], parts));
    }
    std::swap(from_, to_);
  }

  void add_swap(std::uint32_t phase) {
    add_transposition([&](std::uint32_t tile) { return pairs_for_swap(*digits_, tile, phase); },
                      digits_->turns_after(phase) ? &phase : nullptr);
    const std::uint32_t parts = digits_->plan().parts[phase];
    if (parts == 1) return;
    program::Exchange exchange{"swap", {}};
    for (std::uint32_t t = 0; t < used_; ++t) {
      const std::uint64_t columns = digits_->columns(t, phase);
      const Interval own = digits_->values(t, phase, phase + 1);
      for (std::uint32_t v = 0; v < parts; ++v) {
        const Interval part = digits_->part(phase, v);
        const std::uint64_t bytes = columns * part.size() * kPointBytes;
        const std::uint64_t at = columns / own.size() * own.begin * part.size() * kPointBytes;
        const std::uint32_t taker = sample() ? t : digits_->neighbour(t, phase, v);
        exchange.copies.push_back({{from_[t], word(columns * part.begin * kPointBytes)},
                                   word(bytes),
                                   {{to_[taker], word(sample() ? 0 : at)}}});
      }
    }
    std::swap(from_, to_);
    add_exchange(std::move(exchange));
  }

  /// Points come from where they lie in their order to where the first phase takes them.
  void add_inputs() {
    std::vector<BufferId> given;
    for (std::uint32_t t = 0; t < all_; ++t) {
      const std::uint64_t first = stretches_.begin(t) / kPointBytes;
      given.push_back(add_buffer(t, stretch_bytes(t), "given", false,
                                 [points = points_, first](std::span<std::byte> into) {
                                   for (std::uint64_t i = 0; i < into.size() / kPointBytes; ++i) {
                                     const auto [real, imaginary] = points(first + i);
                                     store_point(into, i / 2 * kUnitBytes + i % 2 * 4,
                                                 static_cast<double>(real),
                                                 static_cast<double>(imaginary));
                                   }
                                 }));
    }
    program::Exchange exchange{"inputs", {}};
    for (std::uint32_t t = 0; t < used_; ++t) {
      for (const ResultRun& run : input_runs(*digits_, t)) {
        for_pieces(run, [&](const kernels::EvenStorage::Piece& piece, std::uint64_t at) {
          exchange.copies.push_back(
              {{given[piece.tile], piece.offset}, piece.bytes, {{from_[t], word(at)}}});
        });
      }
    }
    add_exchange(std::move(exchange));
    if (digits_->first_phase() > 0)
      add_transposition([&](std::uint32_t tile) { return pairs_for_batch(*digits_, tile); },
                        nullptr);
    if (digits_->phases() > 1) return;
    // One column: points of neighbouring rows were neighbours.
    add_transposition(
        [&](std::uint32_t) {
          return RowPairs{{{0, kUnitBytes}}, digits_->length(0)};
        },
        nullptr);
  }

  void add_results() {
    if (!pairs_for_result(*digits_, 0).entries.empty())
      add_transposition([&](std::uint32_t tile) { return pairs_for_result(*digits_, tile); },
                        nullptr);
    program::Exchange exchange{"results", {}};
    for (std::uint32_t t = 0; t < used_; ++t) {
      for (const ResultRun& run : result_runs(*digits_, t)) {
        for_pieces(run, [&](const kernels::EvenStorage::Piece& piece, std::uint64_t at) {
          exchange.copies.push_back(
              {{from_[t], word(at)}, piece.bytes, {{results_[piece.tile], piece.offset}}});
        });
      }
    }
    add_exchange(std::move(exchange));
  }

  /// Calls take(piece, bytes on the tile) for the stretches that a run lies in.
  template <class Take>
  void for_pieces(const ResultRun& run, const Take& take) const {
    const std::uint64_t begin = run.point * kPointBytes;
    if (sample()) {
      take({0, 0, 0, word(run.points * kPointBytes)}, run.at * kPointBytes);
      return;
    }
    for (const auto& piece : stretches_.pieces(begin, begin + run.points * kPointBytes))
      take(piece, run.at * kPointBytes + piece.at);
  }

  std::shared_ptr<const Digits> digits_;
  const std::vector<std::uint32_t>& unit_parts_;
  Points points_;
  bool natural_;
  std::uint32_t used_;  ///< tiles that transform
  std::uint32_t all_;   ///< tiles that hold points in their order
  kernels::EvenStorage stretches_;
  program::Program program_;
  elf::KernelCode code_;
  Vertices vertices_;
  std::vector<BufferId> results_;    // by tile of the machine
  std::vector<BufferId> from_, to_;  // by tile: where points are, where they go next
  program::ComputeSet set_{"transform", {}};
  std::size_t vertex_ = 0;
};

}  // namespace

std::uint64_t point_offset(const Digits& digits, std::uint64_t at) {
  if (digits.phases() == 1) return at * kUnitBytes;
  return at / kUnitPoints * kUnitBytes + at % kUnitPoints * 4;
}

program::Program build_program(const Digits& digits, const std::vector<std::uint32_t>& unit_parts,
                               const MachineConfig& machine, const Points& points) {
  return Builder(digits, unit_parts, machine, points).build();
}

kernels::Sample build_sample(const Digits& digits, const std::vector<std::uint32_t>& unit_parts,
                             const MachineConfig& machine) {
  return kernels::sample_of(Builder(digits, unit_parts, machine, {}).build(), machine.tiles);
}

VertexSize size_of(const Pass& pass, std::uint64_t columns) {
  return {pass.codelet(), pass.groups(), pass.stride * columns / kUnitPoints};
}

std::vector<VertexSize> vertex_sizes(const Digits& digits) {
  std::vector<VertexSize> sizes;
  const bool natural = digits.problem().layout == Layout::natural;
  const auto transposition = [&](const char* codelet, std::uint64_t pairs, std::uint64_t columns) {
    sizes.push_back({codelet, pairs, columns / kUnitPoints});
  };
  if (natural && digits.phases() == 1) transposition("fft_transpose", 1, digits.length(0));
  const std::uint32_t first = digits.first_phase();
  if (natural && first > 0) {
    const RowPairs arrays = pairs_for_batch(digits, 0);
    transposition("fft_transpose", arrays.entries.size(), arrays.columns);
  }
  for (std::uint32_t phase = first; phase < digits.phases(); ++phase) {
    const std::uint64_t columns = digits.columns(0, phase);
    for (const Pass& pass : passes_of(digits.plan(), phase, first))
      sizes.push_back(size_of(pass, columns));
    if (phase + 1 < digits.phases())
      transposition(digits.turns_after(phase) ? "fft_turn" : "fft_transpose",
                    digits.length(phase) / kUnitPoints, columns);
  }
  const RowPairs result = pairs_for_result(digits, 0);
  if (natural && !result.entries.empty())
    transposition("fft_transpose", result.entries.size(), result.columns);
  return sizes;
}

}  // namespace tessera::fft
