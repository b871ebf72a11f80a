#pragma once

#include "kernels/gemm/program.h"
#include "kernels/gemm/storage.h"
#include "sim/plan/search.h"

/// A product whose operands lie in external memory: it is computed in rounds, each a
/// product of the tiles on a part of m, n and k.
namespace tessera::gemm {

/// How rounds divide a product. Rounds of k follow each other and add up on the tiles; those of n,
/// then those of m, are passes with a result each. All rounds are of one size: what the last ones
/// have too much is zero.
class RoundGrid {
 public:
  /// One round that is all.
  RoundGrid() = default;
  /// One round that is all where the plan has no rounds.
  RoundGrid(const Problem& problem, const Plan& plan);

  [[nodiscard]] const Product& whole() const { return whole_; }
  /// The product that a round computes.
  [[nodiscard]] const Problem& problem() const { return round_; }
  [[nodiscard]] const Rounds& rounds() const { return rounds_; }
  /// False if fewer rounds of this size would do; of k one round may be extra, which makes their
  /// number even.
  [[nodiscard]] bool needs_all() const { return needs_all_; }
  [[nodiscard]] std::uint32_t passes() const { return rounds_.m * rounds_.n; }
  /// Where a pass begins in the matrices, and where a round of it does in k.
  struct Origin {
    std::uint64_t m, n, k;
  };
  [[nodiscard]] Origin origin(std::uint64_t pass, std::uint64_t round = 0) const;

 private:
  Product whole_;
  Problem round_;
  Rounds rounds_;
  bool needs_all_ = true;
};

/// The program of a plan, with its tensors. Without operands it is good for estimates alone.
/// Machine, code and operands outlive it.
plan::Described described(const Problem& problem, const Plan& plan, const MachineConfig& machine,
                          const elf::KernelCode& code, const Operand* a = nullptr,
                          const Operand* b = nullptr);

/// The parts that blocks allow for m, n and k.
Product most_parts(const Product& product, const BlockShape& block, Stationary stationary);

/// Rows hold blocks as they are if B is stationary; else every block would have to be transposed.
bool allows(Layout layout, Stationary stationary);

/// The product that the tiles compute together: a round, or all where operands lie on them.
inline Geometry geometry_of(const Problem& problem, const Plan& plan) {
  return {RoundGrid(problem, plan).problem(), plan};
}

/// Bytes that all rounds move at least: of the operands, and of the result.
struct OutsideTraffic {
  std::uint64_t read, written;
};
OutsideTraffic outside_traffic(const Problem& problem, const Plan& plan);

}  // namespace tessera::gemm
