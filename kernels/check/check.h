#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/comparison.h"
#include "kernels/check/freivalds.h"

/// The check of every kernel's result: which elements are compared, how suspects are found, what is
/// said of it. README.md states what is found and how surely.
namespace tessera::kernels {

/// Part of one line of a result. A line is what a reference computes at once: a row, a column, a
/// block.
struct Strip {
  std::uint64_t line;
  Interval along;
};

/// A result and what its kernel knows of it.
struct Checked {
  /// Compares elements with what they should be.
  using Compare = std::function<void(std::span<const Strip> strips, Comparison& into)>;

  Comparison::Result result;
  std::uint64_t flops = 0;  ///< the product's; below `most_flops` all lines are compared
  std::uint64_t most_flops = kMostComparedFlops;
  std::uint64_t lines = 0;
  std::uint64_t length = 1;  ///< elements of a line
  std::size_t grain = 1;     ///< lines that a thread takes at a time
  Compare compare = {};      ///< with the plain reference
  /// Lines to compare where not all are. Without these and without sides all lines are compared
  /// whatever the mode.
  std::vector<std::uint64_t> sample = {};

  /// Elements that are compared to the bit whether all are compared or not, and how.
  std::vector<Strip> exact_strips = {};
  Compare compare_exact = {};

  /// Share of all errors that is as good as independent; 0: data may repeat itself.
  double independent = 0;

  /// Freivalds' check of what is not compared: the matrix by rows, or first by rows, then by
  /// columns.
  unsigned sides = 0;
  std::function<SignedRows(unsigned side, HostThreads& threads)> side = {};
  std::size_t most_suspects = 256;  ///< lines that are compared because something stands out
  bool whole_lines = true;          ///< all of a suspect's line is compared, not its part alone
};

/// A result of which all elements are compared, `length` in a line: `compare` adds one to those
/// before.
Checked one_by_one(Comparison::Result result, std::uint64_t elements, std::uint64_t length,
                   std::function<void(std::uint64_t number, Comparison& into)> compare);

/// Numbers below `lines`, one of every `step`, chosen by `seed`.
std::vector<std::uint64_t> sample_lines(std::uint64_t lines, std::uint64_t step, std::uint64_t seed,
                                        std::uint64_t stream);

/// Compares all lines, or a sample of them and what Freivalds' check suspects.
CheckResult check(const Checked& checked, const CheckRequest& request, HostThreads& threads);

}  // namespace tessera::kernels
