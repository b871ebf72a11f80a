#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/register_tile.h"
#include "sim/base/parallel.h"

/// Freivalds' check (1977). A signed sum (of a row's elements times random signs) is linear in the
/// row, so a product's can be computed from its factors at 20 / segment length of its cost.
namespace tessera::kernels {

/// 20 vectors of random signs for rows of `length` elements, cut into equal segments.
class SignVectors {
 public:
  static constexpr std::size_t kVectors = 20;
  /// Probability that all vectors miss an element whose error exceeds a sum's allowed deviation:
  /// each vector detects it with one of its two possible signs.
  static constexpr double kMissed = 0x1p-20;

  SignVectors(std::uint64_t length, std::uint64_t longest, std::uint64_t seed,
              std::uint64_t stream);

  [[nodiscard]] std::uint64_t length() const { return split_.total; }
  [[nodiscard]] std::uint64_t segments() const { return split_.parts; }
  [[nodiscard]] Interval segment(std::uint64_t number) const { return split_.part(number); }
  [[nodiscard]] std::size_t sums() const { return segments() * kVectors; }
  /// 1 or -1 for each element of the row.
  [[nodiscard]] std::span<const float> vector(std::size_t number) const {
    return std::span(signs_).subspan(number * length(), length());
  }

 private:
  EvenSplit split_;
  std::vector<float> signs_;  ///< [vector][element]
};

/// A matrix's signed sums, [row][sum], and sums of squares, [row][segment].
struct RowSums {
  std::vector<double> sums, squares;
};
RowSums row_sums(const MatrixView& matrix, std::uint64_t rows, const SignVectors& signs,
                 HostThreads& threads);

/// The rows of a computed matrix, and the expected values of their signed sums.
struct SignedRows {
  SignVectors signs;
  MatrixView found;
  std::uint64_t rows;
  /// Writes the expected sums of `rows`, [row][sum], and the standard deviation of a sum in each
  /// segment due to independent roundings, [row][segment].
  std::function<void(Interval rows, std::span<double> sums, std::span<double> deviations)> expected;
  bool across = false;  ///< the matrix is transposed: the reference computes its columns
};

/// An element or a segment whose signed sums stand out.
struct Suspect {
  double ratio;  ///< error / allowed error
  std::uint64_t row;
  Interval columns;  ///< one column for an element, else a segment
};
/// Sorts the worst first; ties by position.
void sort_suspects(std::vector<Suspect>& suspects);

/// Finds suspects in rows from the errors and standard deviations of their signed sums.
class Screen {
 public:
  static constexpr double kDeviations = 8;        ///< a sum beyond stands out
  static constexpr double kLoneDeviations = 4.5;  ///< an estimate beyond stands out
  static constexpr double kMissedDeviations = 5;  ///< beyond which chance goes with kMissed

  explicit Screen(const SignVectors& signs) : signs_(&signs) {}
  void look(std::uint64_t row, std::span<const double> errors, std::span<const double> deviations);
  void merge(const Screen& other);

  std::vector<Suspect> elements;
  std::vector<Suspect> segments;
  double worst = 0;           ///< largest error ratio of sums that do not stand out
  double threshold = 0;       ///< element errors above are found, except with kMissed
  double lone_threshold = 0;  ///< the same if the element is the only wrong one

 private:
  void estimate(std::uint64_t row, std::uint64_t segment, std::span<const double> errors,
                double lone);

  const SignVectors* signs_;
  std::vector<float> estimates_;
};

/// Screens all rows.
Screen screened(const SignedRows& rows, HostThreads& threads);

}  // namespace tessera::kernels
