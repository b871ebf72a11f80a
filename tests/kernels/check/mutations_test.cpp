#include "tests/kernels/check/mutations.h"

#include <doctest/doctest.h>

#include "kernels/butterfly/butterfly.h"
#include "kernels/fft/fft.h"
#include "kernels/gemm/gemm.h"
#include "kernels/matrix_unit/matrix_unit.h"
#include "kernels/pixelfly/weight_gradient.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "kernels/stream/stream.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::test;
using program::Type;

namespace {

constexpr unsigned kTrials = 20;
constexpr Rates kAll{20, 20, 20, 20, 20, 20, 20, 20};

struct Types {
  Type dtype, partials;
};
constexpr Types kTypes[] = {{Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}};

/// Of 20 mutations of each kind (zeroed, negated, x 1.5, x 1.004, swapped with the neighbour, a
/// stale tile, a common bias, noise within each one's bound) the check in this mode must find
/// `least`; "found" or what it found.
template <class Kernel, class Options>
std::string finds(const Rates& least, const Options& options, Type type, CheckMode mode) {
  return after_run<Kernel>(
      options, small_machine(16), [&](const Kernel& workload, const Results& results) {
        const Rates found = found_mutations(workload, results, type, mode, kTrials);
        bool enough = true;
        for (std::size_t m = 0; m < found.size(); ++m) enough = enough && found[m] >= least[m];
        return enough ? "found" : text(found);
      });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("checks of gemm find wrong elements, stale tiles and a bias") {
    const auto options_of = [](const Types& types) {
      gemm::Options options;
      options.product = {96, 80, 256};
      options.dtype = types.dtype;
      options.partials =
          types.partials == Type::f16 ? gemm::PartialsChoice::f16 : gemm::PartialsChoice::f32;
      return options;
    };
    const Rates sure{20, 20, 20, 0, 20, 20, 20, 20};
    const auto check = [&](const Types& types, const Rates& full, const Rates& sample) {
      const gemm::Options options = options_of(types);
      CHECK(finds<gemm::Gemm>(full, options, types.dtype, CheckMode::full) == "found");
      CHECK(finds<gemm::Gemm>(sample, options, types.dtype, CheckMode::sample) == "found");
    };
    check(kTypes[0], sure, sure);
    check(kTypes[1], kAll, sure);
    check(kTypes[2], kAll, kAll);
  }

  TEST_CASE("checks of matrix_unit and stream find every bit that is wrong") {
    for (const CheckMode mode : {CheckMode::full, CheckMode::sample}) {
      CHECK(finds<matrix_unit::MatrixUnit>(kAll, matrix_unit::Options{40}, Type::f16, mode) ==
            "found");
      stream::Options options;
      options.elements_per_worker = 40;
      CHECK(finds<stream::Stream>(kAll, options, options.dtype, mode) == "found");
    }
  }

  TEST_CASE("checks of blocks of butterflies and their gradients find wrong elements") {
    for (const Types& types : kTypes) {
      for (const auto pass : {butterfly::Pass::forward, butterfly::Pass::grad_twiddles}) {
        butterfly::Options options;
        options.problem.features = 128;
        options.problem.block = 16;
        options.problem.n = 96;
        options.problem.pass = pass;
        if (types.dtype == Type::f16) options.problem.partials = types.partials;
        options.problem.dtype =
            types.dtype == Type::f16 ? butterfly::Number::f16 : butterfly::Number::f32;
        // One column of a part is replayed to the bit. Roundings of f16 hide small errors of
        // gradients, which are f32.
        const bool forward = pass == butterfly::Pass::forward;
        const Rates half =
            forward ? Rates{20, 20, 20, 4, 20, 20, 20, 20} : Rates{19, 19, 18, 0, 19, 20, 0, 0};
        const Rates single = forward ? kAll : Rates{20, 20, 20, 20, 20, 20, 20, 0};
        CHECK(finds<butterfly::Butterfly>(types.dtype == Type::f16 ? half : single, options,
                                          forward ? types.dtype : Type::f32,
                                          CheckMode::full) == "found");
      }
    }
  }

  TEST_CASE("checks of butterfly and fft find wrong elements and stale tiles") {
    for (const Type type : {Type::f16, Type::f32}) {
      const bool half = type == Type::f16;
      const Rates sure = half ? Rates{20, 20, 20, 4, 20, 20, 20, 20} : kAll;
      butterfly::Options options;
      options.problem.features = 64;
      options.problem.n = 80;
      options.problem.dtype = half ? butterfly::Number::f16 : butterfly::Number::f32;
      // Sums of all columns, of which a sample has half.
      const Rates sampled = half ? Rates{20, 20, 18, 4, 20, 20, 20, 20} : kAll;
      for (const bool blocks : {false, true}) {
        if (blocks) {
          options.problem.features = 256;
          options.problem.block = 16;
        }
        CHECK(finds<butterfly::Butterfly>(sure, options, type, CheckMode::full) == "found");
        CHECK(finds<butterfly::Butterfly>(sampled, options, type, CheckMode::sample) == "found");
      }
    }
    fft::Options options;
    options.problem.points = 4096;
    CHECK(finds<fft::Fft>(kAll, options, Type::f32, CheckMode::full) == "found");
  }

  TEST_CASE("checks of spmm_static find wrong elements, stale tiles and a bias") {
    for (const Types& types : kTypes) {
      spmm_static::Options options;
      options.weights.m = 256;
      options.weights.k = 256;
      options.weights.block = 4;
      options.weights.density = 0.25;
      options.weights.dtype = types.dtype;
      options.partials = types.partials;
      options.n = 96;
      CHECK(finds<spmm_static::SpmmStatic>(kAll, options, types.dtype, CheckMode::full) == "found");
      const Rates sampled{20, 20, 18, 0, 20, 20, 20, 20};
      CHECK(finds<spmm_static::SpmmStatic>(sampled, options, types.dtype, CheckMode::sample) ==
            "found");
    }
  }

  TEST_CASE("checks of pixelfly find wrong elements, stale tiles and a bias") {
    for (const auto pass : {pixelfly::Pass::forward, pixelfly::Pass::grad_input}) {
      for (const Types& types : kTypes) {
        pixelfly::Options options;
        options.weights.m = 256;
        options.weights.k = 128;
        options.weights.block = 8;
        options.weights.dtype = types.dtype;
        options.partials = types.partials;
        options.rank = 16;
        options.n = 96;
        options.pass = pass;
        if (pass == pixelfly::Pass::grad_input) options.gamma = 0.6;
        CHECK(finds<pixelfly::Pixelfly>(kAll, options, types.dtype, CheckMode::full) == "found");
        const Rates sampled{20, 20, 18, 0, 20, 20, 0};
        CHECK(finds<pixelfly::Pixelfly>(sampled, options, types.dtype, CheckMode::sample) ==
              "found");
      }
    }
  }

  TEST_CASE("checks of gradients of a pixelfly find wrong elements, stale tiles and a bias") {
    for (const Types& types : kTypes) {
      for (const std::uint32_t block : {8U, 16U}) {  // in vector code, on the matrix unit
        pixelfly::Options options;
        options.weights.m = 128;
        options.weights.k = 64;
        options.weights.block = block;
        options.weights.dtype = types.dtype;
        options.partials = types.partials;
        options.rank = 16;
        options.n = 96;
        options.pass = pixelfly::Pass::grad_weights;
        if (block == 16) options.plan.products = pixelfly::Products::matrix_unit;
        for (const std::optional<double> gamma : {std::optional<double>(), std::optional(0.6)}) {
          options.gamma = gamma;
          CHECK(finds<pixelfly::WeightGradient>(kAll, options, types.dtype, CheckMode::full) ==
                "found");
        }
      }
    }
  }

  TEST_CASE("checks of spmm_dynamic find wrong elements, stale tiles and a bias") {
    for (const auto pass : {spmm_dynamic::Pass::forward, spmm_dynamic::Pass::grad_values}) {
      const bool values = pass == spmm_dynamic::Pass::grad_values;
      for (const Types& types : kTypes) {
        if (values && types.partials == Type::f16) continue;
        spmm_dynamic::Options options;
        options.weights.m = 256;
        options.weights.k = 256;
        options.weights.block = 4;
        options.weights.density = 0.25;
        options.weights.dtype = types.dtype;
        options.partials = types.partials;
        options.n = 96;
        options.pass = pass;
        CHECK(finds<spmm_dynamic::SpmmDynamic>(kAll, options, types.dtype, CheckMode::full) ==
              "found");
        const Rates sampled = values ? kAll : Rates{20, 20, 18, 0, 20, 20, 20, 20};
        CHECK(finds<spmm_dynamic::SpmmDynamic>(sampled, options, types.dtype, CheckMode::sample) ==
              "found");
      }
    }
  }

  TEST_CASE("checks of spmm_tilewise find wrong elements, stale tiles and a bias") {
    for (const Types& types : kTypes) {
      spmm_tilewise::Options options;
      options.m = 96;
      options.weights.k = 256;
      options.weights.n = 128;
      options.weights.pruning.granularity = 32;
      options.weights.pruning.sparsity = 0.5;
      options.weights.dtype = types.dtype;
      options.partials = types.partials == Type::f16 ? spmm_tilewise::PartialsChoice::f16
                                                     : spmm_tilewise::PartialsChoice::f32;
      CHECK(finds<spmm_tilewise::SpmmTilewise>(kAll, options, types.dtype, CheckMode::full) ==
            "found");
      const Rates sampled{20, 20, 18, 0, 20, 20, 20, 20};
      CHECK(finds<spmm_tilewise::SpmmTilewise>(sampled, options, types.dtype, CheckMode::sample) ==
            "found");
    }
  }
}
