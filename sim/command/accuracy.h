#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/command/gates.h"

/// How near sets come to what is published, by kind of evidence.
namespace tessera::command {

/// Simulated / published: values, or speed-ups where no value is published; nothing without both.
std::optional<double> agreement(const Row& row);
std::vector<double> agreements(const std::vector<Row>& rows);

/// Returns true if a set reproduces published numbers by its kind's gate (evidence.h); nothing if
/// the kind has none, or if nothing is compared. Prints a line for each part of the gate. Of a part
/// of the points (`quick`) what compares points with each other is left out.
std::optional<bool> judge_accuracy(const ValidationSet& set, const std::vector<Row>& rows,
                                   bool quick);

/// A set with the rows of its points and what was found.
struct ValidatedSet {
  const ValidationSet* set;
  std::vector<Row> rows;
  std::optional<bool> reproduces;
  bool as_recorded = true;

  /// True if it misses the published numbers and does not say why.
  [[nodiscard]] bool unexcused() const { return reproduces == false && set->shortfall.empty(); }
  [[nodiscard]] bool passed() const { return as_recorded && !unexcused(); }
};

/// The numbers of all sets of one kind.
struct Total {
  const EvidenceKind* kind;
  std::size_t sets = 0;
  std::size_t judged = 0;      ///< those that its gate applies to
  std::size_t reproduced = 0;  ///< judged sets that reproduce the published numbers
  std::vector<double> ratios;
};
/// One a kind of which there are sets.
std::vector<Total> totals(const std::vector<ValidatedSet>& sets);
/// Points, median, mean and share within kNear of each kind, its gate, and what failed.
void print_totals(const std::vector<ValidatedSet>& sets);
std::string totals_csv(const std::vector<ValidatedSet>& sets);

// The table of a validation set, printed and as CSV.
void print_heading(const ValidationSet& set);
void print_row(const Row& row);

/// Name, axes, published, simulated, ratio, shares of the simulated cycles, speed-ups, evidence and
/// verdicts, context, columns of the report and of the baseline's.
std::string table_csv(const ValidationSet& set, const std::vector<Row>& rows);

/// One HTML page of them: published beside simulated, residuals by axis, citations, and what each
/// model says that it leaves out.
std::string validation_page(const std::vector<ValidatedSet>& sets);

}  // namespace tessera::command
