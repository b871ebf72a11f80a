#pragma once

#include <optional>
#include <vector>

/// Statistics that gates of validation sets ask of many points together.
namespace tessera::command {

/// The middle value, or the mean of the two middle ones; `values` is not empty.
double median(std::vector<double> values);

/// `values` is not empty.
double mean(const std::vector<double>& values);

/// The part of `values` within [low, high]; 0 of none.
double share_within(const std::vector<double>& values, double low, double high);

/// Spearman's rank correlation, equal values with their mean rank; 0 if either list does not vary.
/// Equal values of `known` have no order that `found` could miss: theirs of `found` share a mean
/// rank too.
double rank_correlation(const std::vector<double>& known, const std::vector<double>& found);

/// The exponents e of y = c x1^e1 x2^e2 ... by least squares on logarithms; every number positive,
/// xs[i] the factors of y[i]. Nothing if they do not determine all exponents.
std::optional<std::vector<double>> fitted_exponents(const std::vector<std::vector<double>>& xs,
                                                    const std::vector<double>& y);

/// The straight line through points by least squares: y = slope x + intercept, and the part of y's
/// variance that it explains. Two different x at least.
struct StraightLine {
  double slope, intercept, r2;
};
StraightLine straight_line(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace tessera::command
