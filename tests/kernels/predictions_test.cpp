#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/butterfly/butterfly.h"
#include "kernels/fft/fft.h"
#include "kernels/gemm/gemm.h"
#include "kernels/matrix_unit/matrix_unit.h"
#include "kernels/pixelfly/weight_gradient.h"
#include "kernels/snn/snn.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "kernels/stream/stream.h"
#include "tests/kernels/machine_points.h"
#include "tests/kernels/run_workload.h"

using namespace tessera;

namespace {

constexpr int kPoints = 40;

/// Smaller units than the shipped ones, these, larger ones; none where `outputs` has 0.
void draw_unit(test::MachinePoints& points, std::initializer_list<std::uint32_t> outputs,
               MatrixUnitConfig& unit) {
  for (MatrixShape* shape : {&unit.f16, &unit.f16_f32, &unit.f32}) {
    shape->inputs = points.one_of({8U, 16U, 32U, 64U});
    shape->outputs = points.one_of(outputs);
    while (!shape->allowed()) shape->inputs *= 2;
    shape->interval = points.one_of({1U, 1U, 2U});
  }
}

void draw(test::MachinePoints& points, MachineConfig& machine, gemm::Options& options) {
  draw_unit(points, {0U, 8U, 16U}, machine.tile.matrix_unit);
  options.product = {points.one_of({1U, 7U, 60U, 200U}), points.one_of({1U, 16U, 100U, 180U}),
                     points.one_of({16U, 100U, 300U})};
  options.dtype = points.one_of({program::Type::f16, program::Type::f32});
  options.layout = points.one_of({gemm::Layout::blocked, gemm::Layout::natural});
}

void draw(test::MachinePoints& points, MachineConfig& machine, matrix_unit::Options& options) {
  using matrix_unit::Mode;
  draw_unit(points, {8U, 16U}, machine.tile.matrix_unit);
  options.n = points.one_of({1U, 5U, 17U, 100U, 700U});
  options.dtype = points.one_of({Mode::f16, Mode::f16_f32, Mode::f32});
}

void draw(test::MachinePoints& points, MachineConfig& /*machine*/, stream::Options& options) {
  using stream::Operation;
  options.operation =
      points.one_of({Operation::copy, Operation::scale, Operation::add, Operation::triad});
  options.dtype = points.one_of({program::Type::f16, program::Type::f32});
  options.elements_per_worker = points.one_of({1U, 30U, 700U});
  options.repeats = points.one_of({1U, 2U, 9U});
}

void draw_blocks(test::MachinePoints& points, MachineConfig& machine,
                 sparse::WeightOptions& weights) {
  draw_unit(points, {0U, 8U, 16U, 32U}, machine.tile.matrix_unit);
  weights.m = points.one_of({60U, 200U});
  weights.k = points.one_of({90U, 300U});
  weights.block = points.one_of({4U, 8U, 16U});
  weights.density = points.one_of({0.1, 0.4});
  weights.dtype = points.one_of({program::Type::f16, program::Type::f32});
}

void draw(test::MachinePoints& points, MachineConfig& machine, spmm_static::Options& options) {
  draw_blocks(points, machine, options.weights);
  options.n = points.one_of({1U, 40U, 150U});
  options.partials = points.one_of({program::Type::f16, program::Type::f32});
  options.layout = points.one_of({kernels::Layout::blocked, kernels::Layout::natural});
}

void draw(test::MachinePoints& points, MachineConfig& machine, spmm_dynamic::Options& options) {
  draw_blocks(points, machine, options.weights);
  options.n = points.one_of({1U, 40U, 150U});
  options.partials = points.one_of({program::Type::f16, program::Type::f32});
  options.pass = points.one_of({spmm_dynamic::Pass::forward, spmm_dynamic::Pass::grad_input});
  options.plan.algorithm = spmm_dynamic::Algorithm::given;
}

void draw(test::MachinePoints& points, MachineConfig& machine, spmm_tilewise::Options& options) {
  draw_unit(points, {0U, 8U, 16U, 32U}, machine.tile.matrix_unit);
  options.m = points.one_of({10U, 100U, 300U});
  options.weights.k = points.one_of({70U, 200U});
  options.weights.n = points.one_of({77U, 160U});
  options.weights.dtype = points.one_of({program::Type::f16, program::Type::f32});
  options.weights.pruning.sparsity = points.one_of({0.25, 0.75});
  options.weights.pruning.granularity = points.one_of({16U, 64U});
}

void draw(test::MachinePoints& points, MachineConfig& machine, butterfly::Options& options) {
  using namespace butterfly;
  draw_unit(points, {0U, 8U, 16U}, machine.tile.matrix_unit);
  Problem& problem = options.problem;
  problem.features = points.one_of({8U, 64U, 256U});
  problem.n = points.one_of({1U, 30U, 90U});
  problem.dtype = points.one_of({Number::f16, Number::f32, Number::complex_f32});
  problem.parameters = points.one_of({Parameters::free, Parameters::rotation});
  problem.order = points.one_of({Order::increasing, Order::decreasing});
  problem.pass = points.one_of({Pass::forward, Pass::grad_input, Pass::grad_twiddles});
  const bool plain = problem.parameters == Parameters::rotation || problem.is_complex();
  problem.block = plain ? 1 : points.one_of({1U, 1U, 4U});
  if (problem.blocked()) problem.partials = points.one_of({program::Type::f16, program::Type::f32});
}

void draw(test::MachinePoints& points, MachineConfig& machine, pixelfly::Options& options) {
  draw_blocks(points, machine, options.weights);
  options.weights.pattern = sparse::Pattern::butterfly;
  options.rank = points.one_of({0U, 8U, 20U});
  options.n = points.one_of({1U, 40U, 150U});
  options.partials = points.one_of({program::Type::f16, program::Type::f32});
  options.layout = points.one_of({kernels::Layout::blocked, kernels::Layout::natural});
  options.pass = points.one_of({pixelfly::Pass::forward, pixelfly::Pass::grad_input});
  if (options.rank == 8) options.gamma = 0.3;
}

struct GradientOptions : pixelfly::Options {};
void draw(test::MachinePoints& points, MachineConfig& machine, GradientOptions& options) {
  draw(points, machine, static_cast<pixelfly::Options&>(options));
  options.pass = pixelfly::Pass::grad_weights;
}

void draw(test::MachinePoints& points, MachineConfig& /*machine*/, fft::Options& options) {
  options.problem.points = points.one_of({4U, 64U, 512U, 4096U});
  options.problem.rows = points.one_of({1U, 1U, 8U});
  options.problem.layout = points.one_of({fft::Layout::blocked, fft::Layout::natural});
}

void draw(test::MachinePoints& points, MachineConfig& machine, snn::Options& options) {
  const std::uint32_t most = machine.tiles < 4 ? 1 : points.one_of({1U, 2U, 3U});
  options.layers = {4};
  for (std::uint32_t l = 1; l < most; ++l)
    options.layers.insert(options.layers.begin(), points.one_of({20U, 60U, 150U}));
  options.neuron.kind =
      points.one_of({snn::NeuronKind::lif, snn::NeuronKind::cuba_lif, snn::NeuronKind::adaptive});
  options.neuron.recurrent = points.one_of({false, false, true});
  options.data.kind = snn::DataKind::custom;
  options.data.inputs = points.one_of({60U, 300U});
  options.data.classes = 4;
  options.data.rate = points.one_of({0.05, 0.3});
  options.data.samples = 12;
  options.batch = points.one_of({2U, 6U, 12U});
  options.time_steps = points.one_of({4U, 9U});
  options.max_activity = points.one_of({0.05, 0.3, 1.0});
  options.weight_scale = points.one_of({4.0, 40.0});
  options.loss = points.one_of({snn::Loss::spike_count, snn::Loss::membrane});
  options.train = points.one_of({true, true, false});
  options.states = points.one_of({snn::States::stored, snn::States::recomputed});
}

/// By how much predicted cycles miss the simulated ones at random points, least first.
template <class Kernel, class Options>
std::vector<std::pair<double, int>> misses(std::uint64_t seed) {
  test::MachinePoints points(seed);
  std::vector<std::pair<double, int>> found;
  for (int i = 0; i < kPoints; ++i) {
    MachineConfig machine = points.machine();
    Options options;
    draw(points, machine, options);
    const auto ratio = [](const RunResult& result, const Kernel& kernel) {
      return fmt::format(" {}", static_cast<double>(kernel.prediction().cycles) /
                                    static_cast<double>(result.time.total().count()));
    };
    const std::string said = test::run_workload<Kernel>(options, machine, {ratio});
    CAPTURE(i);
    CAPTURE(said);
    REQUIRE(said.starts_with("passed "));
    found.emplace_back(std::abs(std::stod(said.substr(sizeof "passed")) - 1), i);
  }
  std::sort(found.begin(), found.end());
  return found;
}

template <class Kernel, class Options>
void check_predictions(std::uint64_t seed) {
  const auto found = misses<Kernel, Options>(seed);
  CHECK(found[found.size() / 2].first <= 0.10);
  CHECK_MESSAGE(found.back().first <= 0.25, "point ", found.back().second);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("gemm takes the predicted cycles on machines of every kind") {
    check_predictions<gemm::Gemm, gemm::Options>(1);
  }

  TEST_CASE("matrix_unit takes the predicted cycles on machines of every kind") {
    check_predictions<matrix_unit::MatrixUnit, matrix_unit::Options>(2);
  }

  TEST_CASE("blocks of a W known at build take the predicted cycles on machines of every kind") {
    check_predictions<spmm_static::SpmmStatic, spmm_static::Options>(4);
  }

  TEST_CASE("blocks of a W given at run time take the predicted cycles on machines of every kind") {
    check_predictions<spmm_dynamic::SpmmDynamic, spmm_dynamic::Options>(5);
  }

  TEST_CASE("spmm_tilewise takes the predicted cycles on machines of every kind") {
    check_predictions<spmm_tilewise::SpmmTilewise, spmm_tilewise::Options>(6);
  }

  TEST_CASE("butterfly takes the predicted cycles on machines of every kind") {
    check_predictions<butterfly::Butterfly, butterfly::Options>(4);
  }

  TEST_CASE("pixelfly takes the predicted cycles on machines of every kind") {
    check_predictions<pixelfly::Pixelfly, pixelfly::Options>(7);
  }

  TEST_CASE(
      "gradients of a pixelfly's weights take the predicted cycles on machines of every kind") {
    check_predictions<pixelfly::WeightGradient, GradientOptions>(13);
  }

  TEST_CASE("fft takes the predicted cycles on machines of every kind") {
    check_predictions<fft::Fft, fft::Options>(5);
  }

  TEST_CASE("snn takes the predicted cycles on machines of every kind") {
    check_predictions<snn::Snn, snn::Options>(8);
  }

  TEST_CASE("stream takes the predicted cycles on machines of every kind") {
    check_predictions<stream::Stream, stream::Options>(3);
  }
}
