#pragma once

#include <span>
#include <vector>

#include "kernels/layout.h"

namespace tessera::kernels {

/// Random signs for rows of `length` elements cut into equal segments, 20 vectors of them: sums of
/// a row with these signs are linear in the row, so that those of a product can be had from its
/// factors at 20 / segment length of its cost (Freivalds, 1977).
class SignVectors {
 public:
  static constexpr std::size_t kVectors = 20;
  /// That all vectors miss an element that is off by more than the deviation allowed of a sum: each
  /// sees it with one of the two signs it may have.
  static constexpr double kMissed = 0x1p-20;

  SignVectors(std::uint64_t length, std::uint64_t longest, std::uint64_t seed,
              std::uint64_t stream);

  [[nodiscard]] std::uint64_t length() const { return split_.total; }
  [[nodiscard]] std::uint64_t segments() const { return split_.parts; }
  [[nodiscard]] Interval segment(std::uint64_t number) const { return split_.part(number); }
  [[nodiscard]] std::size_t sums() const { return segments() * kVectors; }

  /// sums[20 segment + vector] += scale times the sums of `row`.
  void add(std::span<const float> row, double scale, std::span<double> sums) const;
  void add(std::span<const double> row, double scale, std::span<double> sums) const;
  /// Of a sum's error in each vector to what each element of the segment would be off by: the
  /// element's own error plus sqrt(length / 20) times that of one of its neighbours.
  void estimate(std::uint64_t segment, std::span<const double> errors,
                std::span<double> elements) const;

 private:
  template <class Number>
  void add_signed(std::span<const Number> row, double scale, std::span<double> sums) const;

  EvenSplit split_;
  std::vector<double> signs_;  ///< [element][vector]
};

/// Where sums with signs stand out.
struct Suspect {
  double ratio;  ///< of the error to what is allowed
  std::uint64_t row;
  Interval columns;  ///< one for an element, else a segment
};
/// The worst first; of equal ones the first.
void sort_suspects(std::vector<Suspect>& suspects);

/// What is to be looked at of a row: given the errors of its sums and the deviation that roundings
/// give to a sum of each segment.
class Screen {
 public:
  static constexpr double kDeviations = 8;      ///< of a sum that count
  static constexpr double kLoneDeviations = 6;  ///< of an estimate that do

  explicit Screen(const SignVectors& signs) : signs_(signs), estimates_(signs.length()) {}
  void look(std::uint64_t row, std::span<const double> errors, std::span<const double> deviations);
  void merge(const Screen& other);

  std::vector<Suspect> elements;
  std::vector<Suspect> segments;
  double worst = 0;           ///< ratio of the sums that do not stand out
  double threshold = 0;       ///< errors of one element above are seen, but for kMissed
  double lone_threshold = 0;  ///< the same of one that is wrong alone

 private:
  const SignVectors& signs_;
  std::vector<double> estimates_;
};

}  // namespace tessera::kernels
