#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/command/gates.h"

/// Accuracy: how near sets come to published numbers, by kind of evidence.
namespace tessera::command {

/// Simulated / published: values, or speed-ups if no value is published; nullopt unless both exist.
std::optional<double> agreement(const Row& row);
std::vector<double> agreements(const std::vector<Row>& rows);

/// True if a set reproduces published numbers by its kind's gate (evidence.h); nullopt if the kind
/// has none, or if nothing is compared. Prints a line for each part of the gate. With `quick`,
/// leaves out the parts that compare points with each other.
std::optional<bool> judge_accuracy(const ValidationSet& set, const std::vector<Row>& rows,
                                   bool quick);

/// A set with the rows of its points and its verdicts.
struct ValidatedSet {
  const ValidationSet* set;
  std::vector<Row> rows;
  std::optional<bool> reproduces;
  bool as_recorded = true;

  /// True if it misses the published numbers and states no shortfall.
  [[nodiscard]] bool unexcused() const { return reproduces == false && set->shortfall.empty(); }
  [[nodiscard]] bool passed() const { return as_recorded && !unexcused(); }
};

/// Summary of all sets of one kind.
struct Total {
  const EvidenceKind* kind;
  std::size_t sets = 0;
  std::size_t judged = 0;      ///< sets with a verdict of the gate
  std::size_t reproduced = 0;  ///< judged sets that reproduce the published numbers
  std::vector<double> ratios;
};
/// One total per kind that has sets.
std::vector<Total> totals(const std::vector<ValidatedSet>& sets);
/// Per kind: points, median, mean and share within kNear, and its gate; then the failures.
void print_totals(const std::vector<ValidatedSet>& sets);
std::string totals_csv(const std::vector<ValidatedSet>& sets);

// The table of a validation set, printed and as CSV.
void print_heading(const ValidationSet& set);
void print_row(const Row& row);

/// CSV columns: name, axes, published, simulated, ratio, shares of the simulated cycles, speed-ups,
/// evidence and verdicts, context, columns of the report and of the baseline's.
std::string table_csv(const ValidationSet& set, const std::vector<Row>& rows);

/// An HTML page of the sets: published beside simulated, residuals by axis, citations, and what
/// each model's header says that it leaves out.
std::string validation_page(const std::vector<ValidatedSet>& sets);

}  // namespace tessera::command
