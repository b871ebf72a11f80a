#pragma once

#include <string>
#include <vector>

#include "sim/command/accuracy.h"

/// The table of a validation set, printed and as CSV.
namespace tessera::command {

void print_heading(const ValidationSet& set);
void print_row(const Row& row);

/// Name, axes, published, simulated, ratio, shares of the simulated cycles, speed-ups, evidence and
/// verdicts, context, columns of the report and of the baseline's.
std::string table_csv(const ValidationSet& set, const std::vector<Row>& rows);

/// One HTML page of them: published beside simulated, residuals by axis, citations, and what each
/// model says that it leaves out.
std::string validation_page(const std::vector<ValidatedSet>& sets);

}  // namespace tessera::command
