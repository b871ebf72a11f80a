#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/check/register_tile.h"
#include "sim/base/parallel.h"

/// Freivalds' check (1977): sums of rows with random signs are linear in the row, so that those of
/// a product can be had from its factors at 20 / segment length of its cost.
namespace tessera::kernels {

/// Random signs for rows of `length` elements cut into equal segments, 20 vectors of them.
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
  /// 1 or -1 for each element of the row.
  [[nodiscard]] std::span<const float> vector(std::size_t number) const {
    return std::span(signs_).subspan(number * length(), length());
  }

 private:
  EvenSplit split_;
  std::vector<float> signs_;  ///< [vector][element]
};

/// A matrix's sums with signs, [row][sum], and sums of squares, [row][segment].
struct RowSums {
  std::vector<double> sums, squares;
};
RowSums row_sums(const MatrixView& matrix, std::uint64_t rows, const SignVectors& signs,
                 HostThreads& threads);

/// The rows of a matrix that was found, and what their sums with signs should be.
struct SignedRows {
  SignVectors signs;
  MatrixView found;
  std::uint64_t rows;
  /// Writes the sums of some rows, [row][sum], and the standard deviation that independent
  /// roundings give to a sum of each segment, [row][segment].
  std::function<void(Interval rows, std::span<double> sums, std::span<double> deviations)> expected;
  bool across = false;  ///< the reference of the matrix computes columns, not rows
};

/// Where sums with signs stand out.
struct Suspect {
  double ratio;  ///< error / allowed error
  std::uint64_t row;
  Interval columns;  ///< one for an element, else a segment
};
/// The worst first; of equal ones the first.
void sort_suspects(std::vector<Suspect>& suspects);

/// Suspects in rows, found from the errors of their sums and the deviations of these.
class Screen {
 public:
  static constexpr double kDeviations = 8;        ///< beyond which a sum stands out
  static constexpr double kLoneDeviations = 4.5;  ///< beyond which an estimate does
  static constexpr double kMissedDeviations = 5;  ///< beyond which chance goes with kMissed

  explicit Screen(const SignVectors& signs) : signs_(&signs) {}
  void look(std::uint64_t row, std::span<const double> errors, std::span<const double> deviations);
  void merge(const Screen& other);

  std::vector<Suspect> elements;
  std::vector<Suspect> segments;
  double worst = 0;           ///< ratio of the sums that do not stand out
  double threshold = 0;       ///< errors of one element above are seen, but for kMissed
  double lone_threshold = 0;  ///< that of an element that is wrong alone

 private:
  void estimate(std::uint64_t row, std::uint64_t segment, std::span<const double> errors,
                double lone);

  const SignVectors* signs_;
  std::vector<float> estimates_;
};

/// Looks at all rows.
Screen screened(const SignedRows& rows, HostThreads& threads);

}  // namespace tessera::kernels
