// Tile code of butterfly layers: biases, and rotations from their angles.
#include "kernels/training/tile_code.h"

using namespace training;

namespace {

/// Rows of 64-bit words on a tile, dealt to workers, and a number for each.
struct RowNumbers {
  double* rows;
  float* numbers;  // that are added to rows of f16: f16
  unsigned words;  // of a row
  unsigned count;  // rows
};

}  // namespace

/// Adds to each row its number.
extern "C" void training_add_bias(const RowNumbers* call) {
  for (unsigned row = xtile::worker(); row < call->count; row += xtile::workers()) {
    double* at = call->rows + row * call->words;
    const double bias = xtile::splat_s(call->numbers[row]);
    for (unsigned n = call->words; n != 0; --n) xtile::fsd_p<8>(xtile::add_2s(*at, bias), at);
  }
  xtile::xctl<0>();
}

/// The sum of each row.
extern "C" void training_row_sums(const RowNumbers* call) {
  for (unsigned row = xtile::worker(); row < call->count; row += xtile::workers()) {
    const float* at = reinterpret_cast<const float*>(call->rows + row * call->words);
    float sum = 0.0F;
    for (unsigned n = 2 * call->words; n != 0; --n) sum += xtile::flw_p<4>(at);
    call->numbers[row] = sum;
  }
  xtile::xctl<0>();
}

extern "C" void training_add_bias_f16(const RowNumbers* call) {
  const Half* const numbers = reinterpret_cast<const Half*>(call->numbers);
  for (unsigned row = xtile::worker(); row < call->count; row += xtile::workers()) {
    double* at = call->rows + row * call->words;
    const double bias = xtile::splat_h(numbers[row]);
    for (unsigned n = call->words; n != 0; --n) xtile::fsd_p<8>(xtile::add_4h(*at, bias), at);
  }
  xtile::xctl<0>();
}

/// In f32.
extern "C" void training_row_sums_f16(const RowNumbers* call) {
  for (unsigned row = xtile::worker(); row < call->count; row += xtile::workers()) {
    const Half* at = reinterpret_cast<const Half*>(call->rows + row * call->words);
    float sum = 0.0F;
    for (unsigned n = 4 * call->words; n != 0; --n) sum += take(at);
    call->numbers[row] = sum;
  }
  xtile::xctl<0>();
}

namespace {

struct Rotations {
  const float* angles;
  float* turns;  // cosine and sine of each
  unsigned count;
};

}  // namespace

extern "C" void training_rotations(const Rotations* call) {
  for (unsigned i = xtile::worker(); i < call->count; i += xtile::workers()) {
    const Turn turn(call->angles[i]);
    call->turns[2 * i] = turn.cosine;
    call->turns[2 * i + 1] = turn.sine;
  }
  xtile::xctl<0>();
}

namespace {

struct HalfRotations {
  Rotations all;
  Half* halves;  // the same, as tiles apply them
};

}  // namespace

extern "C" void training_rotations_f16(const HalfRotations* call) {
  for (unsigned i = xtile::worker(); i < call->all.count; i += xtile::workers()) {
    const Turn turn(call->all.angles[i]);
    call->all.turns[2 * i] = turn.cosine;
    call->all.turns[2 * i + 1] = turn.sine;
    call->halves[2 * i] = static_cast<Half>(turn.cosine);
    call->halves[2 * i + 1] = static_cast<Half>(turn.sine);
  }
  xtile::xctl<0>();
}
