#pragma once

#include <cstddef>
#include <span>

#include "kernels/spmm_static/partition.h"
#include "sim/data/dense_operand.h"

/// What tiles hold before the run: X in order [depth][column][input] and the values of W as dealt,
/// each in equal parts over all tiles of the machine.
namespace tessera::spmm_static {

/// Elements [first, ...) of X.
void fill_x(const Partition& partition, const data::DenseOperand& x, std::uint64_t first,
            std::span<std::byte> into);

/// The same of X in order of its rows.
void fill_x_rows(const Partition& partition, const data::DenseOperand& x, std::uint64_t first,
                 std::span<std::byte> into);

/// Values [first, ...) of W: each block by inputs, then outputs, as the matrix unit takes it.
void fill_values(const Partition& partition, const sparse::BlockMatrix& w, std::uint64_t first,
                 std::span<std::byte> into);

}  // namespace tessera::spmm_static
