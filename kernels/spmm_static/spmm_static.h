#pragma once

#include <memory>
#include <string>

#include "kernels/spmm_static/plan.h"
#include "sim/config/fields.h"
#include "sim/data/sparse_matrix.h"
#include "sim/program/workload.h"

/// The workload `spmm_static`: Y[m,n] = W[m,k] X[k,n], W sparse and known at build.
namespace tessera::spmm_static {

struct Options {
  std::uint32_t m = 1024;
  std::uint32_t k = 1024;
  std::uint32_t n = 64;
  double density = 0.0625;
  std::string matrix;  ///< a .mtx file instead of a seeded pattern; gives m and k
  program::Type dtype = program::Type::f32;
  std::uint64_t seed = 1;
  Pinned plan;
};
void describe(config::Fields& fields, Pinned& plan);
void describe(config::Fields& fields, Options& options);

/// Problem, plan and everything derived from them, fixed at construction.
class SpmmStatic : public Workload {
 public:
  /// Throws UserError if the matrix cannot be read, holds values outside dtype, or no plan fits.
  SpmmStatic(Options options, const MachineConfig& machine);

  [[nodiscard]] nlohmann::ordered_json plan() const override;
  [[nodiscard]] Prediction prediction() const override { return plan_.prediction; }
  [[nodiscard]] std::uint64_t useful_flops() const override;
  [[nodiscard]] std::string peak_type() const override;
  [[nodiscard]] program::Program build() const override;
  [[nodiscard]] CheckResult check(const MemoryReader& memory, CheckMode mode) const override;

 private:
  friend class Builder;
  /// X[row, column] as the tiles hold it; zero in the padding.
  [[nodiscard]] double x(std::uint32_t row, std::uint32_t column) const;
  [[nodiscard]] std::uint32_t slice_bytes() const;  ///< of one row of X or Y in one slice

  Options options_;
  std::uint32_t tiles_;
  data::SparseMatrix w_;  ///< values rounded to dtype
  Plan plan_;
};

/// W: the file's, or a seeded uniform pattern of ceil(density x m x k) entries. Values rounded to
/// dtype.
data::SparseMatrix make_matrix(const Options& options);

/// The finished Y of tile t lies in buffer t of the program: rows of its group by slice_bytes.
constexpr program::BufferId y_buffer(TileId tile) { return program::BufferId(index(tile)); }

}  // namespace tessera::spmm_static
