#include "kernels/fft/vertices.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/data/element.h"

namespace tessera::fft {

namespace {

constexpr std::uint32_t kMostLegs = 8;
constexpr std::uint32_t kTwiddleBytes = 16;  // tangent, its negative, real part, its negative

/// The leg that result `slot` of the tile code is; in a forward transform slots are legs in order.
std::uint32_t leg_of(std::uint32_t slot, std::uint32_t radix, Direction direction) {
  return direction == Direction::inverse && slot != 0 ? radix - slot : slot;
}

// A loop's cost is steady from 3 units on.
std::vector<FittedCost::Axis> share_axes() { return {{1, 1}, {1, 3}}; }

/// A pass in which every worker's share is `groups`; a first pass has one group: its units are
/// shared.
Pass shared_pass(const Pass& of, std::uint64_t groups, std::uint32_t contexts) {
  return {of.first() ? of.radix : word(of.radix * groups * contexts), of.radix, 1};
}
std::uint64_t shared_columns(const Pass& of, std::uint64_t units, std::uint32_t contexts) {
  return units * kUnitPoints * (of.first() ? contexts : 1);
}

}  // namespace

program::Vertex Vertices::pass(const Pass& pass, std::uint64_t columns, Direction direction,
                               BufferId twiddles, BufferId in, BufferId out,
                               std::uint32_t unit_parts) const {
  const std::uint64_t run = pass.stride * columns * kPointBytes;
  kernels::Arguments arguments{word(run)};
  for (std::uint32_t slot = 1; slot < kMostLegs; ++slot)
    arguments.emplace_back(
        slot < pass.radix ? word(run * pass.groups() * leg_of(slot, pass.radix, direction)) : 0U);
  const EvenSplit units{run / kUnitBytes, unit_parts};
  const EvenSplit groups{pass.groups(), contexts_ / unit_parts};
  const std::uint32_t group_bytes = twiddle_bytes(pass) / pass.groups();
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    const Interval mine = groups.part(w / unit_parts);
    const Interval part = units.part(w % unit_parts);
    const bool idle = mine.size() == 0 || part.size() == 0;
    const std::uint64_t first = idle ? 0 : mine.begin;
    const std::uint64_t at = idle ? 0 : part.begin * kUnitBytes;
    const std::uint64_t mine_bytes = part.size() * kUnitBytes;
    arguments.insert(
        arguments.end(),
        {Place{in, word(first * run * pass.radix + at)}, Place{out, word(first * run + at)},
         pass.first() ? program::Argument{0U} : Place{twiddles, word(first * group_bytes)},
         idle ? 0U : word(mine.size()), word(part.size()) - 1, word(run * pass.radix - mine_bytes),
         word(run - mine_bytes), 0U});
  }
  return kernels::Codelet{code_.in(program_, pass.codelet()), contexts_}.all(std::move(arguments));
}

program::Vertex Vertices::transposition(std::uint64_t pairs, std::uint64_t columns,
                                        const BufferId* twiddles, BufferId list, BufferId in,
                                        BufferId out, std::uint32_t unit_parts) const {
  kernels::Arguments arguments{Place{in},
                               Place{out},
                               twiddles != nullptr ? program::Argument{Place{*twiddles}} : 0U,
                               Place{list},
                               word(columns * kPointBytes),
                               0U,
                               0U,
                               0U};
  const EvenSplit units{columns / kUnitPoints, unit_parts};
  const EvenSplit groups{pairs, contexts_ / unit_parts};
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    const Interval mine = groups.part(w / unit_parts);
    const Interval part = units.part(w % unit_parts);
    const bool idle = mine.size() == 0 || part.size() == 0;
    arguments.insert(arguments.end(), {idle ? 0U : word(mine.begin), idle ? 0U : word(mine.size()),
                                       idle ? 0U : word(part.begin), word(part.size()) - 1});
  }
  const char* const name = twiddles != nullptr ? "fft_turn" : "fft_transpose";
  return kernels::Codelet{code_.in(program_, name), contexts_}.all(std::move(arguments));
}

Work work_of(const Pass& pass, std::uint64_t columns) {
  return {pass.groups(), pass.stride * columns / kUnitPoints};
}

using Operands = std::span<const Place>;

const plan::Function& Functions::pass(const Pass& pass) {
  const std::uint32_t contexts = vertices_.contexts();
  return description_.function(
      {pass.codelet(), share_axes(),
       [v = vertices_, pass, contexts](const Sizes& share, Operands operands) {
         return v.pass(shared_pass(pass, share[0], contexts),
                       shared_columns(pass, share[1], contexts), Direction::forward,
                       operands[0].buffer, operands[1].buffer, operands[2].buffer,
                       pass.first() ? contexts : 1);
       },
       [pass, contexts](const Sizes& share) {
         const Pass all = shared_pass(pass, share[0], contexts);
         const std::uint64_t points = all.length * shared_columns(pass, share[1], contexts);
         return std::vector<std::uint64_t>{twiddle_bytes(all), points * kPointBytes,
                                           points * kPointBytes};
       }});
}

const plan::Function& Functions::transposition(bool turns) {
  const std::uint32_t contexts = vertices_.contexts();
  return description_.function(
      {turns ? "fft_turn" : "fft_transpose", share_axes(),
       [v = vertices_, turns, contexts](const Sizes& share, Operands operands) {
         return v.transposition(share[0] * contexts, share[1] * kUnitPoints,
                                turns ? &operands[3].buffer : nullptr, operands[0].buffer,
                                operands[1].buffer, operands[2].buffer, 1);
       },
       [turns, contexts](const Sizes& share) {
         const std::uint64_t pairs = share[0] * contexts;
         const std::uint64_t bytes = pairs * kUnitPoints * share[1] * kUnitPoints * kPointBytes;
         return std::vector<std::uint64_t>{pairs * sizeof(RowPairs::Entry), bytes, bytes,
                                           turns ? bytes : 0};
       }});
}

Division::Answer Division::best(const Functions& functions, const plan::Function& function,
                                const Work& work) {
  const auto [known, is_new] =
      known_.try_emplace({function.name, work.groups, work.units}, Answer{1, ~std::uint64_t{0}});
  if (!is_new) return known->second;
  check(pricing_ != nullptr, "fft: {} was not planned", function.name);
  const Vertices& vertices = functions.vertices();
  for (std::uint32_t parts = 1; parts <= vertices.contexts(); ++parts) {
    if (vertices.contexts() % parts != 0) continue;
    const Work share = vertices.share(work, parts);
    const std::uint64_t cycles =
        pricing_->call(functions.description(), function, {share.groups, share.units});
    if (cycles < known->second.cycles) known->second = {parts, cycles};
  }
  return known->second;
}

/// Twiddles exp(-+2 pi i group stride / length); with four legs their squares come first.
void fill_twiddles(const Pass& pass, Direction direction, std::span<std::byte> into) {
  // Replaces a zero real part by one too small to change an f32 result: tangents stay finite.
  constexpr double kLeast = 0x1p-30;
  const double sign = direction == Direction::forward ? -1 : 1;
  std::size_t at = 0;
  for (std::uint32_t group = 0; group < pass.groups(); ++group) {
    for (std::uint32_t power = pass.radix / 2; power > 0; power /= 2) {
      const double turn = static_cast<double>(group) * power * pass.stride / pass.length;
      const double angle = sign * 2 * std::numbers::pi * turn;
      const double cosine = std::cos(angle);
      const double real = std::abs(cosine) < kLeast ? kLeast : cosine;
      const double tangent = std::sin(angle) / real;
      for (const double part : {tangent, -tangent, real, -real})
        data::store_element(program::Type::f32, into, at++, part);
    }
  }
}

std::uint32_t twiddle_bytes(const Pass& pass) {
  return pass.first() ? 0 : word(std::uint64_t{pass.groups()} * (pass.radix / 2) * kTwiddleBytes);
}

std::string Pass::codelet() const {
  return fmt::format("fft_radix{}{}", radix, first() ? "_first" : "");
}

std::vector<Pass> passes_of(const Plan& plan, std::uint32_t phase, std::uint32_t first) {
  std::size_t at = 0;
  for (std::uint32_t p = first;; ++p) {
    std::vector<Pass> passes;
    for (std::uint32_t left = plan.lengths[p]; left > 1; ++at) {
      left /= plan.radices[at];
      passes.push_back({plan.lengths[p], plan.radices[at], left});
    }
    if (p == phase) return passes;
  }
}

RowPairs pairs_for_swap(const Digits& digits, std::uint32_t tile, std::uint32_t phase) {
  RowPairs pairs{{}, digits.columns(tile, phase)};
  for (std::uint32_t v = 0; v < digits.plan().parts[phase]; ++v) {
    const Interval part = digits.part(phase, v);
    for (std::uint64_t row = part.begin; row < part.end; row += kUnitPoints)
      pairs.entries.push_back({word((pairs.columns * part.begin + row - part.begin) * kPointBytes),
                               word(part.size() * kPointBytes)});
  }
  return pairs;
}

RowPairs pairs_for_batch(const Digits& digits, std::uint32_t tile) {
  const std::uint32_t phase = digits.first_phase();
  const std::uint64_t arrays = digits.values(tile, phase, 0).size();
  RowPairs pairs{{}, digits.held(tile, phase) / arrays};
  for (std::uint64_t array = 0; array < arrays; array += kUnitPoints)
    pairs.entries.push_back({word(array * kPointBytes), word(arrays * kPointBytes)});
  return pairs;
}

RowPairs pairs_for_result(const Digits& digits, std::uint32_t tile) {
  const std::uint32_t last = digits.phases() - 1;
  std::uint64_t before = 1, rows = 0, behind = 1;
  for (const std::uint32_t d : digits.order(last)) {
    const std::uint64_t size = digits.values(tile, last, d).size();
    if (d == digits.fastest_output())
      rows = size;
    else
      (rows > 0 ? behind : before) *= size;
  }
  if (digits.phases() == 1) behind = kUnitPoints;
  RowPairs pairs{{}, behind};
  if (behind == 1) return pairs;
  for (std::uint64_t i = 0; i < before; ++i)
    for (std::uint64_t row = 0; row < rows; row += kUnitPoints)
      pairs.entries.push_back(
          {word((i * rows * behind + row) * kPointBytes), word(rows * kPointBytes)});
  return pairs;
}

}  // namespace tessera::fft
