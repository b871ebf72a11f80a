// Tile code of layers with one feature per row: biases, diagonals, and rotations from angles.
#include "kernels/training/tile_code.h"

using namespace training;

namespace {

/// Rows on a tile, distributed over workers.
struct Rows {
  unsigned words;  // used per row
  unsigned count;  // rows
  unsigned pitch;  // words from row to row
};

/// Rows of 64-bit words, and a number for each row.
struct RowNumbers {
  double* rows;
  float* numbers;  // f16 if they are added to rows of f16
  Rows of;
};

/// Two sets of rows that are combined to rows or to numbers.
struct RowPairs {
  const double* first;
  const double* second;
  double* result;
  Rows of;
};

inline double splat(const float* numbers, unsigned row) { return xtile::splat_s(numbers[row]); }
inline double splat(const Half* numbers, unsigned row) { return xtile::splat_h(numbers[row]); }

template <class Number, double (*kAdd)(double, double)>
inline void add_bias(const RowNumbers* call) {
  const Number* const numbers = reinterpret_cast<const Number*>(call->numbers);
  for (unsigned row = xtile::worker(); row < call->of.count; row += xtile::workers()) {
    double* at = call->rows + row * call->of.pitch;
    const double bias = splat(numbers, row);
    for (unsigned n = call->of.words; n != 0; --n) xtile::fsd_p<8>(kAdd(*at, bias), at);
  }
  xtile::xctl<0>();
}

/// Adds a word's numbers to two f32 sums: two f32 at once, or four f16 in two steps.
inline double added(double word, double sums, float /*type*/) { return xtile::add_2s(word, sums); }
inline double added(double word, double sums, Half /*type*/) {
  return xtile::add_2s(xtile::unpkh_2s(word), xtile::add_2s(xtile::unpkl_2s(word), sums));
}
/// Adds the products of two words' numbers to the sums in the same way.
inline double added(double a, double b, double sums, float /*type*/) {
  return xtile::fma_2s(a, b, sums);
}
inline double added(double a, double b, double sums, Half /*type*/) {
  return xtile::fma_2s(xtile::unpkh_2s(a), xtile::unpkh_2s(b),
                       xtile::fma_2s(xtile::unpkl_2s(a), xtile::unpkl_2s(b), sums));
}

/// Sums each row in f32.
template <class Number>
inline void row_sums(const RowNumbers* call) {
  for (unsigned row = xtile::worker(); row < call->of.count; row += xtile::workers()) {
    const double* at = call->rows + row * call->of.pitch;
    double sums = xtile::splat_s(0.0F);
    for (unsigned n = call->of.words; n != 0; --n)
      sums = added(xtile::fld_p<8>(at), sums, Number());
    call->numbers[row] = xtile::sum_2s(sums);
  }
  xtile::xctl<0>();
}

/// Multiplies each row by its number.
template <class Number, double (*kMultiply)(double, double)>
inline void scale_rows(const RowPairs* call) {
  const Number* const numbers = reinterpret_cast<const Number*>(call->second);
  for (unsigned row = xtile::worker(); row < call->of.count; row += xtile::workers()) {
    const double* from = call->first + row * call->of.pitch;
    double* to = call->result + row * call->of.pitch;
    const double number = splat(numbers, row);
    for (unsigned n = call->of.words; n != 0; --n)
      xtile::fsd_p<8>(kMultiply(xtile::fld_p<8>(from), number), to);
  }
  xtile::xctl<0>();
}

/// Dot product of each pair of rows, in f32.
template <class Number>
inline void row_products(const RowPairs* call) {
  float* const sums = reinterpret_cast<float*>(call->result);
  for (unsigned row = xtile::worker(); row < call->of.count; row += xtile::workers()) {
    const double* a = call->first + row * call->of.pitch;
    const double* b = call->second + row * call->of.pitch;
    double products = xtile::splat_s(0.0F);
    for (unsigned n = call->of.words; n != 0; --n) {
      const double word = xtile::fld_p<8>(a);
      products = added(word, xtile::fld_p<8>(b), products, Number());
    }
    sums[row] = xtile::sum_2s(products);
  }
  xtile::xctl<0>();
}

/// Multiplies rows of complex numbers (a word of real parts, then one of imaginary parts) by one
/// such pair of words per row, or by its conjugate.
template <bool kConjugate>
inline void scale_complex(const RowPairs* call) {
  for (unsigned row = xtile::worker(); row < call->of.count; row += xtile::workers()) {
    const double* from = call->first + row * call->of.pitch;
    double* to = call->result + row * call->of.pitch;
    const double real = call->second[2 * row];
    const double given = call->second[2 * row + 1];
    const double imaginary = kConjugate ? xtile::sub_2s(xtile::splat_s(0.0F), given) : given;
    for (unsigned n = call->of.words; n != 0; n -= 2) {
      const double a = xtile::fld_p<8>(from);
      const double b = xtile::fld_p<8>(from);
      xtile::fsd_p<8>(xtile::sub_2s(xtile::mul_2s(a, real), xtile::mul_2s(b, imaginary)), to);
      xtile::fsd_p<8>(xtile::fma_2s(a, imaginary, xtile::mul_2s(b, real)), to);
    }
  }
  xtile::xctl<0>();
}

struct WidenCall {
  const double* from;
  double* to;
  Parts<Part> parts;
};

struct Rotations {
  const float* angles;
  float* turns;  // cosine and sine of each angle
  unsigned count;
  Half* halves;  // the same in f16, as tiles apply them
};

template <bool kHalves>
inline void rotations(const Rotations* call) {
  for (unsigned i = xtile::worker(); i < call->count; i += xtile::workers()) {
    const Turn turn(call->angles[i]);
    call->turns[2 * i] = turn.cosine;
    call->turns[2 * i + 1] = turn.sine;
    if constexpr (!kHalves) continue;
    call->halves[2 * i] = static_cast<Half>(turn.cosine);
    call->halves[2 * i + 1] = static_cast<Half>(turn.sine);
  }
  xtile::xctl<0>();
}

}  // namespace

extern "C" void training_add_bias(const RowNumbers* call) { add_bias<float, xtile::add_2s>(call); }
extern "C" void training_add_bias_f16(const RowNumbers* call) {
  add_bias<Half, xtile::add_4h>(call);
}
extern "C" void training_row_sums(const RowNumbers* call) { row_sums<float>(call); }
extern "C" void training_row_sums_f16(const RowNumbers* call) { row_sums<Half>(call); }
extern "C" void training_scale_rows(const RowPairs* call) {
  scale_rows<float, xtile::mul_2s>(call);
}
extern "C" void training_scale_rows_f16(const RowPairs* call) {
  scale_rows<Half, xtile::mul_4h>(call);
}
extern "C" void training_row_products(const RowPairs* call) { row_products<float>(call); }
extern "C" void training_row_products_f16(const RowPairs* call) { row_products<Half>(call); }
extern "C" void training_scale_complex(const RowPairs* call) { scale_complex<false>(call); }
extern "C" void training_scale_conjugate(const RowPairs* call) { scale_complex<true>(call); }

/// Sums of complex rows times conjugates of others, laid out as above; each lane has its own sum.
extern "C" void training_complex_products(const RowPairs* call) {
  for (unsigned row = xtile::worker(); row < call->of.count; row += xtile::workers()) {
    const double* a = call->first + row * call->of.pitch;
    const double* b = call->second + row * call->of.pitch;
    double real = xtile::splat_s(0.0F);
    double imaginary = real;
    for (unsigned n = call->of.words; n != 0; n -= 2) {
      const double a_real = xtile::fld_p<8>(a);
      const double a_imaginary = xtile::fld_p<8>(a);
      const double b_real = xtile::fld_p<8>(b);
      const double b_imaginary = xtile::fld_p<8>(b);
      real = xtile::fma_2s(a_real, b_real, xtile::fma_2s(a_imaginary, b_imaginary, real));
      imaginary = xtile::sub_2s(xtile::fma_2s(a_imaginary, b_real, imaginary),
                                xtile::mul_2s(a_real, b_imaginary));
    }
    call->result[2 * row] = real;
    call->result[2 * row + 1] = imaginary;
  }
  xtile::xctl<0>();
}

/// Converts f16 to f32.
extern "C" void training_widen(const WidenCall* call) {
  const Part part = call->parts.mine();
  const double* from = shifted(call->from, part.offset);
  double* to = shifted(call->to, 2 * part.offset);
  for (unsigned n = part.words; n != 0; --n) {
    const double each = xtile::fld_p<8>(from);
    xtile::fsd_p<8>(xtile::unpkl_2s(each), to);
    xtile::fsd_p<8>(xtile::unpkh_2s(each), to);
  }
  xtile::xctl<0>();
}

extern "C" void training_rotations(const Rotations* call) { rotations<false>(call); }
extern "C" void training_rotations_f16(const Rotations* call) { rotations<true>(call); }
