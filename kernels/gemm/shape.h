#pragma once

#include <cstdint>

#include "kernels/block_shape.h"
#include "kernels/layout.h"
#include "sim/base/types.h"

/// The product as the matrix unit sees it: Y[rows, columns] = X[rows, depth] W[depth, columns];
/// activation rows of the moving operand X stream past blocks of the stationary operand W.
namespace tessera::gemm {

using kernels::block_shape;
using kernels::BlockShape;
using kernels::Layout;
using program::Type;

/// C[m, n] = A[m, k] B[k, n].
struct Product {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};

/// Which operand the matrix unit holds. With `a` the transposed product is computed: activation
/// rows are columns of B, and Y is C transposed.
enum class Stationary : std::uint8_t { a, b };

/// Sizes of a product by role.
struct Roles {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t depth;
};
constexpr Roles roles(const Product& product, Stationary stationary) {
  if (stationary == Stationary::b) return {product.m, product.n, product.k};
  return {product.n, product.m, product.k};
}

}  // namespace tessera::gemm
