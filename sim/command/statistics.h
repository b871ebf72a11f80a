#pragma once

#include <optional>
#include <vector>

/// Statistics for the gates of validation sets.
namespace tessera::command {

/// The middle value, or the mean of the two middle ones; `values` must not be empty.
double median(std::vector<double> values);

/// `values` must not be empty.
double mean(const std::vector<double>& values);

/// The share of `values` within [low, high]; 0 if there are none.
double share_within(const std::vector<double>& values, double low, double high);

/// Spearman's rank correlation; equal values share their mean rank; 0 if either list is constant.
/// Equal values of `known` imply no order: their values of `found` share a mean rank too.
double rank_correlation(const std::vector<double>& known, const std::vector<double>& found);

/// The exponents e of y = c x1^e1 x2^e2 ... by least squares on logarithms; all numbers positive,
/// xs[i] the factors of y[i]. Nullopt if the data do not determine all exponents.
std::optional<std::vector<double>> fitted_exponents(const std::vector<std::vector<double>>& xs,
                                                    const std::vector<double>& y);

/// Least-squares line y = slope x + intercept, and the share of y's variance it explains. Needs two
/// different x at least.
struct StraightLine {
  double slope, intercept, r2;
};
StraightLine straight_line(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace tessera::command
