#include "kernels/convnet/calls.h"

#include <algorithm>
#include <utility>

#include "kernels/gemm/vector_operand.h"
#include "sim/base/errors.h"

namespace tessera::convnet {
namespace {

// Flags of `convolve` in addition to its mode, as codelets.S tests them.
constexpr std::uint32_t kRelu = 32;  // part of the mode
constexpr std::uint32_t kBeginsWithPartials = 64;
constexpr std::uint32_t kEndsWithPartials = 128;
constexpr std::uint32_t kOddSteps = 256;
constexpr std::uint32_t kSharedWeights = 512;
constexpr std::uint32_t kOneStep = 1024;
constexpr std::uint32_t kSharedWeightsAlone = 1U << 29;
constexpr std::uint32_t kOddStepsAlone = 1U << 30;
constexpr std::uint32_t kUneven = 1U << 31;  // any of the above, or few steps
constexpr std::uint32_t kFewestSteps = 4;
constexpr std::uint32_t kDistancesBehind = 4;  // distances after the list: the first ones again
constexpr std::uint32_t kFirstDistances = 3;   // distances loaded before a patch's first step
constexpr std::uint32_t kStepsOfATurn = 4;
// Steps of a patch from which four-step iterations beat runs: starting a patch takes about 40 slots
// more, but `convolve` takes half a slot more per step with five groups.
constexpr std::uint32_t kStepsOfARun = 64;
constexpr std::string_view kConvolve = "convolve";
constexpr std::size_t kFirstBehindOutput = 2;
constexpr std::size_t kFlagsArgument = 10;
constexpr std::size_t kBlocksArgument = 7;
constexpr std::size_t kPairsArgument = 8;  // with four steps per iteration: iterations
constexpr std::size_t kPlaneArgument = 9;

std::uint32_t flags_of(const Convolve& call) {
  const std::uint32_t steps = call.steps.of_block();
  return (call.begins_with_partials ? kBeginsWithPartials : 0) |
         (call.ends_with_partials ? kEndsWithPartials : 0) | (steps % 2 == 1 ? kOddSteps : 0) |
         (call.shared_weights ? kSharedWeights : 0) | (steps == 1 ? kOneStep : 0);
}

Argument behind(const Argument& argument, std::uint32_t bytes) {
  if (const auto* const place = std::get_if<program::Place>(&argument))
    return program::Place{place->buffer, place->offset + bytes};
  return std::get<std::uint32_t>(argument) + bytes;
}

/// Bytes from one address, or one place of a buffer, to another; none for different buffers.
std::optional<std::uint32_t> distance(const Argument& from, const Argument& to) {
  if (from.index() == 0 && to.index() == 0) return std::get<0>(to) - std::get<0>(from);
  const auto* const begin = std::get_if<program::Place>(&from);
  const auto* const end = std::get_if<program::Place>(&to);
  if (begin == nullptr || end == nullptr || begin->buffer != end->buffer) return std::nullopt;
  return end->offset - begin->offset;
}

bool is_alike(const Argument& a, const Argument& b) { return distance(a, b) == 0U; }

/// True if the call is pipelined across patches and blocks.
bool goes_on(const Call& call) {
  return (std::get<std::uint32_t>(call.arguments[kFlagsArgument]) & kUneven) == 0;
}

/// Output blocks that wide code computes; 0 if it cannot be used.
std::uint32_t wide_blocks(const Convolve& call, const PatchTable& table) {
  if (call.computes_pairs() || !table.wide || !call.same_planes) return 0;
  return call.steps.blocks / table.wide->blocks * table.wide->blocks;
}

void check_steps(const Steps& steps) {
  check(steps.blocks > 0 && steps.of_block() > 0, "convnet: {} blocks of {} planes and {} taps",
        steps.blocks, steps.planes, steps.taps);
}

}  // namespace

std::uint64_t Steps::distance_bytes() const {
  constexpr std::uint64_t kAhead = 8;
  const std::uint64_t repeated = of_block() % 2 == 1 ? blocks - 1 : 0;
  return sizeof(std::int32_t) * (std::uint64_t{blocks} * of_block() + repeated + kAhead);
}

bool Prepare::is_regular() const {
  return is_alike(numbers, 0U) && steps.taps == 1 && steps.planes % 2 == 0 &&
         steps.planes >= kFewestSteps;
}

std::vector<Argument> Prepare::arguments() const {
  check_steps(steps);
  check(!one_plane_each || steps.planes == 1, "convnet: {} planes, not one each", steps.planes);
  const std::uint32_t list = steps.blocks * steps.planes + kDistancesBehind;
  return {distances,
          numbers,
          tap_offsets,
          steps.taps,
          steps.blocks,
          steps.planes,
          input_plane_bytes,
          steps.of_block() % 2,
          std::uint32_t{one_plane_each},
          is_regular() ? list : 0U,
          0U - (steps.planes - 1) * input_plane_bytes};
}

bool Convolve::is_even() const {
  return !computes_pairs() && flags_of(*this) == 0 && steps.of_block() >= kFewestSteps;
}

bool Convolve::takes_turns(const PatchTable& table) const {
  if (!is_even() || table.turns == nullptr || steps.of_block() % kStepsOfATurn != 0) return false;
  return !table.has_runs || steps.blocks * steps.of_block() >= kStepsOfARun;
}

PatchTable Convolve::table() const {
  const std::uint32_t planes = block_planes(*type);
  PatchTable table =
      patch_table(grid, planes, is_even(), (steps.blocks - 1) * grid.output_plane_bytes);
  return takes_turns(table) ? patch_table(grid, planes) : table;
}

std::vector<Argument> Convolve::arguments() const {
  check_steps(steps);
  check(shift < 32, "convnet: shift {}", shift);
  const std::uint32_t flags = flags_of(*this);
  std::vector<Argument> all{
      input,
      output,
      weights,
      bias,
      distances,
      patches,
      first_patch,
      steps.blocks,
      steps.of_block() / 2,
      grid.output_plane_bytes,
      shift | (relu ? kRelu : 0) | flags | (flags == kOddSteps ? kOddStepsAlone : 0) |
          (flags == kSharedWeights ? kSharedWeightsAlone : 0) | (is_even() ? 0 : kUneven),
      is_even() ? Argument(1U) : partials,
      behind(distances, kFirstDistances * sizeof(std::int32_t)),
      steps.of_block() / 2 - (is_even() ? 2 : 0)};
  if (computes_pairs()) all.emplace_back(grid.input_plane_bytes);
  return all;
}

void Convolve::join_planes() {
  if (shared_weights && !computes_pairs() && patch_table(grid).is_small())
    grid.planes = std::exchange(steps.blocks, 1U);
}

std::vector<Call> Convolve::calls(const PatchTable& table) const {
  check(is_even() || !table.has_runs, "convnet: runs of patches of an uneven call");
  Convolve rest = *this;
  std::vector<Call> all;
  rest.first_patch = table.first;
  if (const std::uint32_t blocks = wide_blocks(*this, table); blocks > 0) {
    const std::uint32_t block_bytes = steps.of_block() * step_bytes(*type);
    Convolve wide = *this;
    wide.steps.blocks = blocks / table.wide->blocks;  // rounds
    wide.first_patch = block_bytes;                   // the argument that is the kind in `convolve`
    all.push_back({code_name(table.wide->codelet, *type), wide.arguments()});
    rest.steps.blocks -= blocks;
    rest.weights = behind(weights, blocks * block_bytes);
    rest.bias = behind(bias, blocks * kBiasBlockBytes);
    if (!ends_with_partials) rest.output = behind(output, blocks * grid.output_plane_bytes);
    if (begins_with_partials || ends_with_partials)
      rest.partials = behind(partials, static_cast<std::uint32_t>(table.partial_bytes(blocks)));
  }
  if (rest.steps.blocks == 0) return all;
  all.push_back({code_name(kConvolve, *type), rest.arguments()});
  if (takes_turns(table)) {
    all.back().codelet = code_name(table.turns, *type);
    all.back().arguments[kPairsArgument] = steps.of_block() / kStepsOfATurn;
  }
  return all;
}

std::optional<Call> Convolve::again(const Call& before, const Call& next,
                                    const PatchTable& table) const {
  const auto rest = [](const Call& call) {
    return std::span(call.arguments).subspan(kFirstBehindOutput);
  };
  const std::string convolve = code_name(kConvolve, *type);
  const bool alike = before.codelet == convolve && next.codelet == convolve &&
                     std::ranges::equal(rest(before), rest(next), is_alike);
  if (!alike || !table.again || !goes_on(next)) return std::nullopt;
  const std::optional<std::uint32_t> inputs = distance(before.arguments[0], next.arguments[0]);
  const std::optional<std::uint32_t> outputs = distance(before.arguments[1], next.arguments[1]);
  if (!inputs || !outputs) return std::nullopt;
  Call call{code_name(table.again->codelet, *type), next.arguments};
  call.arguments[0] = *inputs - table.again->input_bytes;
  call.arguments[1] = *outputs - table.again->output_bytes -
                      (std::get<std::uint32_t>(next.arguments[kBlocksArgument]) - 1) *
                          std::get<std::uint32_t>(next.arguments[kPlaneArgument]);
  return call;
}

std::uint32_t Convolve::prepared_blocks(const PatchTable& table) const {
  return std::max(steps.blocks - wide_blocks(*this, table), 1U);
}

std::vector<Argument> PoolMax::arguments() const {
  check_steps(steps);
  check(steps.planes == 1 && steps.taps % 2 == 0, "convnet: a pool of {} planes and {} taps",
        steps.planes, steps.taps);
  return {input, output, distances, patches, steps.blocks, output_plane_bytes, steps.taps / 2};
}

std::vector<std::byte> shared_weights(const VectorType& type, std::span<const float> factors) {
  const std::size_t planes = block_planes(type);
  std::vector<std::byte> weights((factors.size() + 2) * step_bytes(type));
  for (std::size_t i = 0; i < (factors.size() + 2) * planes; ++i)
    for (std::size_t channel = 0; channel < type.outputs; ++channel) {
      const std::size_t input = i % planes * type.outputs + channel;
      const std::size_t at = (i * type.inputs + input) * type.outputs + channel;
      gemm::store_number(type, factors[i / planes % factors.size()], &weights[at * type.bytes]);
    }
  return weights;
}

std::string code_name(std::string_view codelet, const VectorType& type) {
  std::string name(codelet);
  return type.type == program::Type::i8 ? name : name + '_' + type.name;
}

}  // namespace tessera::convnet
