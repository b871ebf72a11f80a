#include "kernels/fft/vertices.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "sim/data/element.h"

namespace tessera::fft {

namespace {

constexpr std::uint32_t kTwiddleBytes = 12;  // real part, imaginary part, its negative

/// The leg that tile code's result number `slot` is: it computes 0 - 2 -+ i (1 - 3) in this order.
std::uint32_t leg_of(std::uint32_t slot, std::uint32_t radix, Direction direction) {
  return radix == 4 && direction == Direction::inverse && slot != 0 ? 4 - slot : slot;
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
  const auto leg = [&](std::uint32_t slot) {
    return word(run * leg_of(slot, pass.radix, direction));
  };
  program::Vertex vertex{
      tile,
      codelet(fmt::format("fft_radix{}{}", pass.radix, pass.last() ? "_last" : "")),
      program::Executor::all_workers,
      0,
      {word(run * pass.groups()), leg(1), leg(2), leg(3)}};
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
        {Place{in, word(first * run + at)}, Place{out, word(first * run * pass.radix + at)},
         pass.last() ? program::Argument{0U} : Place{twiddles, word(first * group_bytes)},
         idle ? 0U : word(mine.size()), word(part.size()) - 1, word(run - mine_bytes),
         word(run * pass.radix - mine_bytes), 0U});
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

/// exp(-+2 pi i group leg stride / length).
void fill_twiddles(const Pass& pass, Direction direction, std::span<std::byte> into) {
  const double sign = direction == Direction::forward ? -1 : 1;
  std::size_t at = 0;
  for (std::uint32_t group = 0; group < pass.groups(); ++group) {
    for (std::uint32_t slot = 1; slot < pass.radix; ++slot) {
      const std::uint64_t turn =
          std::uint64_t{group} * leg_of(slot, pass.radix, direction) * pass.stride % pass.length;
      const double angle = sign * 2 * std::numbers::pi * static_cast<double>(turn) / pass.length;
      for (const double part : {std::cos(angle), std::sin(angle), -std::sin(angle)})
        data::store_element(program::Type::f32, into, at++, part);
    }
  }
}

std::uint32_t twiddle_bytes(const Pass& pass) {
  return pass.last() ? 0 : word(std::uint64_t{pass.groups()} * (pass.radix - 1) * kTwiddleBytes);
}

}  // namespace tessera::fft
