#pragma once

#include <vector>

#include "kernels/spmm_tilewise/storage.h"
#include "sim/program/program.h"

namespace tessera::spmm_tilewise {

/// The program's buffers: by job, and by tile of the machine.
struct Buffers {
  std::vector<program::BufferId> x, a, y, result, overlay;
  std::vector<program::BufferId> a_stored, w_stored;
};

/// Which bytes of A, W and C go where.
class Exchanges {
 public:
  /// All are kept by reference.
  Exchanges(const Problem& problem, const Plan& plan, const TilePattern& pattern,
            const EvenStorage& a, const WeightStorage& w, const EvenStorage& c,
            const Buffers& buffers)
      : problem_(problem),
        plan_(plan),
        pattern_(pattern),
        a_storage_(a),
        w_storage_(w),
        c_storage_(c),
        buffers_(buffers) {}

  /// Rows of A^T and weights of one superstep, in the last one also the overlay's rows.
  [[nodiscard]] program::Exchange inputs(std::uint32_t cut) const;
  /// Columns of C go from their jobs to their places; neighbours go together.
  [[nodiscard]] program::Exchange scatter() const;

 private:
  /// Where one row of A^T goes within the buffers of one superstep's groups.
  struct Taker {
    std::uint32_t group;
    bool overlay;
    std::uint64_t row;  ///< of the superstep's, or of the overlay's
  };
  static bool continues(const std::vector<Taker>& before, const std::vector<Taker>& after);
  [[nodiscard]] std::vector<std::vector<Taker>> takers(std::uint32_t cut) const;
  [[nodiscard]] std::uint64_t rows_in(const Job& job, std::uint32_t cut) const;

  void add_gathers(program::Exchange& exchange, std::uint32_t cut) const;
  void add_gather(program::Exchange& exchange, std::uint64_t panel, std::uint32_t row,
                  std::uint32_t end, const std::vector<Taker>& takers,
                  const std::vector<std::size_t>& jobs, std::uint32_t cut) const;
  void add_weights(program::Exchange& exchange, std::uint32_t cut) const;
  void add_scatter(program::Exchange& exchange, std::size_t job, std::uint64_t from,
                   std::uint64_t to, std::uint64_t vectors) const;

  const Problem& problem_;
  const Plan& plan_;
  const TilePattern& pattern_;
  const EvenStorage& a_storage_;
  const WeightStorage& w_storage_;
  const EvenStorage& c_storage_;
  const Buffers& buffers_;
};

/// What a tile holds of C lies in the buffer of the same number.
constexpr program::BufferId result_buffer(std::uint32_t tile) { return program::BufferId(tile); }

}  // namespace tessera::spmm_tilewise
