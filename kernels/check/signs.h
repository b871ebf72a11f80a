#pragma once

#include <span>
#include <vector>

#include "kernels/check/register_tile.h"
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
  /// The signs of one segment alone.
  [[nodiscard]] SignVectors only(std::uint64_t segment) const;

  [[nodiscard]] std::uint64_t length() const { return split_.total; }
  [[nodiscard]] std::uint64_t segments() const { return split_.parts; }
  [[nodiscard]] Interval segment(std::uint64_t number) const { return split_.part(number); }
  [[nodiscard]] std::size_t sums() const { return segments() * kVectors; }
  /// 1 or -1 for each element of the row.
  [[nodiscard]] std::span<const float> vector(std::size_t number) const {
    return std::span(signs_).subspan(number * length(), length());
  }

 private:
  explicit SignVectors(EvenSplit split) : split_(split) {}

  EvenSplit split_;
  std::vector<float> signs_;  ///< [vector][element]
};

/// Sums with signs of the rows of a matrix, in `Number`, element after element.
template <class Number>
class SignedSums {
 public:
  explicit SignedSums(const SignVectors& signs);
  /// sums[row * step + 20 segment + vector] of the first `rows` rows of `matrix`.
  void add(const MatrixView& matrix, std::uint64_t rows, Number* sums, std::uint64_t step) const;

 private:
  const SignVectors& signs_;
  std::vector<Number> panels_;  ///< [segment][kTileColumns of vectors][element]
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
  static constexpr double kDeviations = 8;        ///< of a sum that count
  static constexpr double kLoneDeviations = 4.5;  ///< of an estimate that do
  static constexpr double kMissedDeviations = 5;  ///< beyond which chance goes with kMissed

  explicit Screen(const SignVectors& signs) : signs_(&signs) {}
  void look(std::uint64_t row, std::span<const double> errors, std::span<const double> deviations);
  void merge(const Screen& other);

  /// The largest of something, and where.
  struct Largest {
    double value = 0;
    std::uint64_t row = 0;
    std::uint64_t segment = 0;

    void take(const Largest& other) {
      if (other.value > value) *this = other;
    }
  };

  std::vector<Suspect> elements;
  std::vector<Suspect> segments;
  Largest worst;           ///< ratio of the sums that do not stand out
  Largest threshold;       ///< errors of one element above are seen, but for kMissed
  Largest lone_threshold;  ///< the same of one that is wrong alone

 private:
  void estimate(std::uint64_t row, std::uint64_t segment, std::span<const double> errors,
                double lone);

  const SignVectors* signs_;
  std::vector<float> estimates_;
};

}  // namespace tessera::kernels
