#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/comparison.h"
#include "kernels/check/freivalds.h"

/// The check of every kernel's result: selects elements to compare, finds suspects, reports errors.
/// README.md states which errors are found, and with which probability.
namespace tessera::kernels {

/// Part of one line of a result. A line is the unit that a reference computes: a row, a column or a
/// block.
struct Strip {
  std::uint64_t line;
  Interval along;
};

/// A result to check, and how to check it.
struct Checked {
  /// Compares elements with their expected values.
  using Compare = std::function<void(std::span<const Strip> strips, Comparison& into)>;

  Comparison::Result result;
  std::uint64_t flops = 0;  ///< of the product; up to `most_flops` all lines are compared
  std::uint64_t most_flops = kMostComparedFlops;
  std::uint64_t lines = 0;
  std::uint64_t length = 1;  ///< elements of a line
  std::size_t grain = 1;     ///< lines that a thread compares per work item
  Compare compare = {};      ///< with the plain reference
  /// Lines to compare in sample mode. If empty and `sides` is 0, every mode compares all lines.
  std::vector<std::uint64_t> sample = {};

  /// Elements that `compare_exact` compares bit by bit in every mode.
  std::vector<Strip> exact_strips = {};
  Compare compare_exact = {};

  /// Share of errors that count as independent; 0: unknown, since data may repeat values.
  double independent = 0;

  /// Sides of Freivalds' check in sample mode; 0: none, 1: by rows, 2: by rows and by columns.
  unsigned sides = 0;
  std::function<SignedRows(unsigned side, HostThreads& threads)> side = {};
  std::size_t most_suspects = 256;  ///< from this many strips on no suspects are added
  bool whole_lines = true;          ///< compare a suspect's whole line, not only its part
};

/// A result whose elements are all compared, in lines of `length`: `compare` adds element `number`
/// to the comparison.
Checked one_by_one(Comparison::Result result, std::uint64_t elements, std::uint64_t length,
                   std::function<void(std::uint64_t number, Comparison& into)> compare);

/// Random line numbers below `lines`, one in each group of about `step` lines.
std::vector<std::uint64_t> sample_lines(std::uint64_t lines, std::uint64_t step, std::uint64_t seed,
                                        std::uint64_t stream);

/// Compares all lines, or a sample and the suspects of Freivalds' check.
CheckResult check(const Checked& checked, const CheckRequest& request, HostThreads& threads);

}  // namespace tessera::kernels
