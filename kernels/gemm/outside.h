#pragma once

#include "kernels/gemm/program.h"
#include "kernels/gemm/storage.h"
#include "sim/plan/search.h"

/// A product with operands in external memory, computed in rounds: each is a product on the tiles
/// of a part of m, n and k.
namespace tessera::gemm {

/// The division of a product into rounds. Rounds of k follow each other and accumulate on the
/// tiles; rounds of n, then of m, are passes with a result each. All rounds have one size, padded
/// with zeros.
class RoundGrid {
 public:
  /// A single round.
  RoundGrid() = default;
  /// A single round if the plan has none.
  RoundGrid(const Problem& problem, const Plan& plan);

  [[nodiscard]] const Product& whole() const { return whole_; }
  /// The product that a round computes.
  [[nodiscard]] const Problem& problem() const { return round_; }
  [[nodiscard]] const Rounds& rounds() const { return rounds_; }
  /// False if fewer rounds of this size would suffice; k may have one extra round, to make the
  /// number even.
  [[nodiscard]] bool needs_all() const { return needs_all_; }
  [[nodiscard]] std::uint32_t passes() const { return rounds_.m * rounds_.n; }
  /// Start of a pass in m and n, and of a round of it in k.
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

/// The program of a plan, with its tensors. Null operands: for estimates only. Machine, code and
/// operands outlive it.
plan::Described described(const Problem& problem, const Plan& plan, const MachineConfig& machine,
                          const elf::KernelCode& code, const Operand* a = nullptr,
                          const Operand* b = nullptr);

/// The largest numbers of parts of m, n and k that blocks allow.
Product most_parts(const Product& product, const BlockShape& block, Stationary stationary);

/// True if the layout supports the stationary operand: rows contain blocks unchanged if B is
/// stationary; with A every block would have to be transposed.
bool allows(Layout layout, Stationary stationary);

/// The product that the tiles compute at a time: a round, or everything if operands are on the
/// tiles.
inline Geometry geometry_of(const Problem& problem, const Plan& plan) {
  return {RoundGrid(problem, plan).problem(), plan};
}

/// Lower bound on the bytes that all rounds move: read for operands, written for the result.
struct OutsideTraffic {
  std::uint64_t read, written;
};
OutsideTraffic outside_traffic(const Problem& problem, const Plan& plan);

}  // namespace tessera::gemm
