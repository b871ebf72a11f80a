#include <algorithm>
#include <cmath>

#include "kernels/check/signs.h"
#include "kernels/gemm/reference.h"
#include "kernels/gemm/sum_screen.h"
#include "sim/data/element.h"

namespace tessera::gemm {

namespace {

using kernels::SignVectors;
using kernels::Suspect;

constexpr std::uint64_t kRowStream = 3;  // of random numbers
constexpr std::uint64_t kColumnStream = 4;
constexpr double kShare = 0.5;               // of the results' root mean square: what is to be seen
constexpr std::uint64_t kShortest = 256;     // segment: shorter ones cost half a product and more
constexpr std::uint64_t kLongest = 1024;     // longer ones save nothing
constexpr std::size_t kMostElements = 4096;  // that are compared because they stand out
constexpr std::size_t kMostSegments = 16;

Side side_of(const Finished& product, bool turn) {
  const auto view = [&](const std::vector<float>& matrix, std::uint64_t columns) {
    const kernels::MatrixView plain{matrix.data(), columns, 1};
    return turn ? kernels::MatrixView{matrix.data(), 1, columns} : plain;
  };
  const auto x = view(product.x, product.depth);
  const auto w = view(product.w, product.columns);
  const auto y = view(product.y, product.columns);
  if (turn) return {w, x, y, product.columns, product.rows, product.depth};
  return {x, w, y, product.rows, product.columns, product.depth};
}

/// Whether single precision tells sums from their roundings: f16 partials are off by far more.
bool is_coarse(const Rounding& rounding) {
  return rounding.partial == data::unit_roundoff(program::Type::f16);
}

/// The longest segment at which an element that is off by half of the results' root mean square
/// still stands out of what roundings add up to, partial sums growing as the root of the depth.
std::uint64_t segment_length(const Finished& product, const Rounding& rounding) {
  if (!is_coarse(rounding)) return kLongest;
  const auto depth = static_cast<double>(product.depth);
  const double blocks = depth / static_cast<double>(rounding.block);
  const double partial = rounding.partial * rounding.partial;
  const double square =
      (rounding.sum * rounding.sum * depth / 2 + partial * rounding.parts +
       (rounding.every_block ? partial * blocks / 2 : 0) + rounding.result * rounding.result) /
      3;
  const double most = kShare * kShare / (Screen::kDeviations * Screen::kDeviations * square);
  return static_cast<std::uint64_t>(
      std::clamp(most, static_cast<double>(kShortest), static_cast<double>(kLongest)));
}

/// What is reported is computed in double.
void refine(const Side& side, const Rounding& rounding, const SignVectors& signs,
            HostThreads& threads, Screen& screen) {
  for (Screen::Largest Screen::*const largest :
       {&Screen::worst, &Screen::threshold, &Screen::lone_threshold}) {
    Screen::Largest& found = screen.*largest;
    if (found.value == 0) continue;
    const SignVectors its = signs.only(found.segment);
    const Side part = side.only(found.row, signs.segment(found.segment));
    const Screen exact = SumScreen<double>(part, rounding, its, threads).look(threads);
    // A ratio that single precision had just below one may be above.
    found.value = exact.segments.empty() || largest != &Screen::worst
                      ? (exact.*largest).value
                      : exact.segments.front().ratio;
  }
}

Screen screen_rows(const Side& side, const Rounding& rounding, const SignVectors& signs,
                   HostThreads& threads) {
  if (!is_coarse(rounding)) return SumScreen<double>(side, rounding, signs, threads).look(threads);
  Screen screen = SumScreen<float>(side, rounding, signs, threads).look(threads);
  refine(side, rounding, signs, threads, screen);
  return screen;
}

/// Compares what stands out; `turn`: rows and columns are exchanged.
void compare_suspects(const Finished& product, const Rounding& rounding, Screen& screen, bool turn,
                      SumsFound& found, kernels::Comparison& comparison) {
  const auto compare = [&](std::vector<Suspect>& suspects, std::size_t most,
                           Screen::Largest& threshold) {
    kernels::sort_suspects(suspects);
    for (std::size_t i = 0; i < std::min(most, suspects.size()); ++i) {
      const Suspect& one = suspects[i];
      if (!turn) {
        compare_row(product, rounding, one.row, one.columns, true, comparison);
        continue;
      }
      for (std::uint64_t row = one.columns.begin; row < one.columns.end; ++row) {
        compare_row(product, rounding, row, {one.row, one.row + 1}, true, comparison);
      }
    }
    if (suspects.size() > most) threshold.value *= suspects[most].ratio;
  };
  compare(screen.segments, kMostSegments, screen.threshold);
  compare(screen.elements, kMostElements, screen.lone_threshold);
  found.worst = std::max(found.worst, screen.worst.value);
  found.threshold = std::max(found.threshold, screen.threshold.value);
  found.lone_threshold = std::max(found.lone_threshold, screen.lone_threshold.value);
}

}  // namespace

SumsFound compare_sums(const Finished& product, const Rounding& rounding, std::uint64_t seed,
                       HostThreads& threads, kernels::Comparison& comparison) {
  SumsFound found;
  const std::uint64_t longest = segment_length(product, rounding);
  for (const bool turn : {false, true}) {
    const SignVectors signs(turn ? product.rows : product.columns, longest, seed,
                            turn ? kColumnStream : kRowStream);
    Screen screen = screen_rows(side_of(product, turn), rounding, signs, threads);
    compare_suspects(product, rounding, screen, turn, found, comparison);
  }
  return found;
}

}  // namespace tessera::gemm
