#include "models/tile/worker_contexts.h"

#include "sim/data/random.h"

namespace tessera {
namespace {

constexpr std::uint32_t kStack = 2;  // register sp

}  // namespace

WorkerContexts::WorkerContexts(const TileConfig& config, const program::CodeImage& image,
                               TileId tile, std::uint64_t seed)
    : contexts(config.contexts),
      weights(config.matrix_unit.weight_words()),
      banks_(std::size_t{2} * config.contexts * config.matrix_unit.bank_sums()),
      integers_(config.matrix_unit.has_vectors() ? config.contexts : 0) {
  const std::uint32_t sums = config.matrix_unit.bank_sums();
  for (std::uint32_t worker = 0; worker < config.contexts; ++worker) {
    engine::Context& context = contexts[worker];
    float* const acc = banks_.data() + std::size_t{2} * worker * sums;
    context.banks = {acc, acc + sums};
    if (!integers_.empty()) context.integers = &integers_[worker];
    context.worker = worker;
    context.workers = config.contexts;
    context.tile = index(tile);
    context.x[kStack] = worker_stack(image, config, worker);
    // Each worker of each seed has a stream of its own.
    const std::uint64_t stream = (std::uint64_t{index(tile)} << 16) + worker;
    context.random[0] = data::random_bits(seed, stream, 0);
    context.random[1] = data::random_bits(seed, stream, 1);
  }
}

}  // namespace tessera
