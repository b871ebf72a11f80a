#include <bit>
#include <cstring>

#include "kernels/codelet.h"
#include "kernels/stencil/geometry.h"

namespace tessera::stencil {

using plan::Sizes;
using program::Place;

namespace {

constexpr std::uint32_t kWordBytes = 8;

using Words = kernels::Arguments;

Words weights_of(const Problem& problem) {
  Words words;
  for (std::size_t i = 0; i < kWeights; ++i) {
    std::array<std::byte, 4> bytes{};
    data::store_element(problem.options.dtype, bytes, 0, problem.weight(i));
    words.emplace_back(std::bit_cast<std::uint32_t>(bytes));
  }
  return words;
}

}  // namespace

const plan::Function& Functions::stencil(bool to_rows) {
  constexpr std::array<std::string_view, 3> kKinds{"", "compiled_", "elements_"};
  const bool sliced = geometry_->sliced();
  return called(
      fmt::format("stencil_{}{}", kKinds[static_cast<std::size_t>(geometry_->plan().code)],
                  geometry_->options().dtype == program::Type::f16 ? "f16" : "f32"),
      weights_of(geometry_->problem()),
      [sliced, to_rows](const Block& block, const Block& slice, std::size_t worker, Share& share) {
        if (to_rows && share.lines == 0)
          share.out = 0;
        else if (to_rows)
          share.out = share.out - 1 - block.line() - 2 * (share.in / block.line());
        if (sliced) share.in = worker * slice.size();
        return Lines{sliced ? slice.line() : block.line(), to_rows ? block.columns : block.line()};
      },
      to_rows ? " to rows" : "");
}

const plan::Function& Functions::copy() {
  return called(
      "stencil_copy", {},
      [](const Block& block, const Block& slice, std::size_t worker, Share& share) {
        share.out = worker * slice.size();
        if (share.lines > 0) share.lines += 2;
        share.cells += 2;
        return Lines{block.line(), slice.line()};
      },
      "");
}

const plan::Function& Functions::called(const std::string& name, const Words& weights,
                                        const Adapt& adapt, const std::string& form) {
  const std::uint64_t across = geometry_->plan().worker_columns;
  const std::uint64_t down = geometry_->contexts() / across;
  plan::Function function{fmt::format("{} {} {}{}", name, across, geometry_->sliced(), form),
                          {{down, 2 * down}, {across, 8 * across, 32}},
                          {},
                          {}};
  const auto codelet =
      kernels::Codelet::of(geometry_->problem().code, description_, name, geometry_->contexts());
  function.vertex = [=, g = geometry_](const Sizes& sizes, std::span<const Place> operands) {
    const Block block{sizes[0], sizes[1]}, slice = g->part(block);
    std::vector<Share> shares = g->shares(block);
    Lines lines{};
    for (std::size_t w = 0; w < shares.size(); ++w) lines = adapt(block, slice, w, shares[w]);
    const auto bytes = [&](std::uint64_t cells) { return word(cells * g->cell()); };
    Words words = weights;
    words.insert(words.end(), {bytes(lines.in), bytes(lines.out), bytes(1), bytes(1) / kWordBytes});
    for (const Share& share : shares)
      words.insert(words.end(), {Place{operands[0].buffer, bytes(share.in)},
                                 Place{operands[1].buffer, bytes(share.out)}, word(share.lines),
                                 word(share.cells)});
    return codelet.all(std::move(words));
  };
  function.operand_bytes = [g = geometry_](const Sizes& sizes) -> std::vector<std::uint64_t> {
    const Block block{sizes[0], sizes[1]};
    const std::uint64_t most = std::max(block.size(), g->slices(block)) * g->cell();
    return {most, most};
  };
  return description_.function(std::move(function));
}

}  // namespace tessera::stencil
