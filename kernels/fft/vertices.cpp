#include "kernels/fft/vertices.h"

#include <cmath>
#include <numbers>

#include "sim/data/element.h"

namespace tessera::fft {

namespace {

constexpr std::uint32_t kMostLegs = 8;
constexpr std::uint32_t kTwiddleBytes = 16;  // tangent, its negative, real part, its negative

/// The leg that tile code's result number `slot` is: it computes the forward ones in this order.
std::uint32_t leg_of(std::uint32_t slot, std::uint32_t radix, Direction direction) {
  return direction == Direction::inverse && slot != 0 ? radix - slot : slot;
}

}  // namespace

std::uint32_t Vertices::codelet(const std::string& name) {
  const auto [entry, is_new] = codelets_.try_emplace(name);
  if (is_new) entry->second = program_.add_codelet(code_[name]);
  return entry->second;
}

program::Vertex Vertices::pass(TileId tile, const Pass& pass, std::uint64_t columns,
                               Direction direction, BufferId twiddles, BufferId in, BufferId out,
                               std::uint32_t unit_parts) {
  const std::uint64_t run = pass.stride * columns * kPointBytes;
  program::Vertex vertex{
      tile, codelet(pass.codelet()), program::Executor::all_workers, 0, {word(run)}};
  for (std::uint32_t slot = 1; slot < kMostLegs; ++slot)
    vertex.arguments.emplace_back(
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
    vertex.arguments.insert(
        vertex.arguments.end(),
        {Place{in, word(first * run * pass.radix + at)}, Place{out, word(first * run + at)},
         pass.first() ? program::Argument{0U} : Place{twiddles, word(first * group_bytes)},
         idle ? 0U : word(mine.size()), word(part.size()) - 1, word(run * pass.radix - mine_bytes),
         word(run - mine_bytes), 0U});
  }
  return vertex;
}

program::Vertex Vertices::transposition(TileId tile, std::uint64_t pairs, std::uint64_t columns,
                                        const BufferId* twiddles, BufferId list, BufferId in,
                                        BufferId out, std::uint32_t unit_parts) {
  program::Vertex vertex{
      tile,
      codelet(twiddles != nullptr ? "fft_turn" : "fft_transpose"),
      program::Executor::all_workers,
      0,
      {Place{in}, Place{out}, twiddles != nullptr ? program::Argument{Place{*twiddles}} : 0U,
       Place{list}, word(columns * kPointBytes), 0U, 0U, 0U}};
  const EvenSplit units{columns / kUnitPoints, unit_parts};
  const EvenSplit groups{pairs, contexts_ / unit_parts};
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    const Interval mine = groups.part(w / unit_parts);
    const Interval part = units.part(w % unit_parts);
    const bool idle = mine.size() == 0 || part.size() == 0;
    vertex.arguments.insert(vertex.arguments.end(),
                            {idle ? 0U : word(mine.begin), idle ? 0U : word(mine.size()),
                             idle ? 0U : word(part.begin), word(part.size()) - 1});
  }
  return vertex;
}

/// Of exp(-+2 pi i group stride / length), squared before as it is where there are four legs.
void fill_twiddles(const Pass& pass, Direction direction, std::span<std::byte> into) {
  // Where the real part is zero one that no result of f32 tells from it, so that tangents are
  // finite.
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

}  // namespace tessera::fft
