#include "sim/program/placement.h"

#include <numeric>
#include <random>

#include <doctest/doctest.h>

using namespace tessera::program;

namespace {

constexpr std::uint32_t kSteps = 12;

Block block(std::uint32_t bytes, std::int32_t first, std::int32_t last, std::uint32_t align = 8) {
  return {bytes, align, {first, last}, Category::tensors};
}

std::vector<Block> random_blocks(std::mt19937& random) {
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  std::vector<Block> blocks(1 + below(40));
  for (Block& made : blocks) {
    const auto first = static_cast<std::int32_t>(below(kSteps + 2)) - 1;
    const auto length = static_cast<std::int32_t>(below(kSteps));
    made = {1 + below(300),
            1U << below(7),
            {first, std::min(first + length - 1, static_cast<std::int32_t>(kSteps))},
            static_cast<Category>(below(kCategories))};
  }
  return blocks;
}

bool collide(const Layout& layout, std::span<const Block> blocks, std::size_t a, std::size_t b) {
  return blocks[a].life.overlaps(blocks[b].life) && blocks[a].life.used() &&
         blocks[b].life.used() && layout.address[a] < layout.address[b] + blocks[b].bytes &&
         layout.address[b] < layout.address[a] + blocks[a].bytes;
}

/// Counts violations of a layout's guarantees: alignment, bounds, no overlap of live buffers.
std::size_t broken_promises(const Layout& layout, std::span<const Block> blocks,
                            std::uint64_t base) {
  std::size_t broken = 0;
  for (std::size_t a = 0; a < blocks.size(); ++a) {
    if (!blocks[a].life.used()) continue;
    broken += layout.address[a] % blocks[a].align != 0 ? 1 : 0;
    broken += layout.address[a] < base ? 1 : 0;
    broken += layout.address[a] + blocks[a].bytes > layout.end ? 1 : 0;
    for (std::size_t b = 0; b < a; ++b) broken += collide(layout, blocks, a, b) ? 1 : 0;
  }
  return broken;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("buffers that are never live together share bytes") {
    const std::vector<Block> blocks = {block(100, 0, 1), block(80, 2, 3), block(90, 4, 5)};
    const Layout layout = place(blocks, 64, kSteps);
    CHECK(layout.address == std::vector<std::uint64_t>{64, 64, 64});
    CHECK(layout.end == 164);
  }

  TEST_CASE("a gap below is filled before the end grows") {
    const std::vector<Block> blocks = {block(64, 0, 1), block(48, 0, 4), block(32, 3, 4)};
    const Layout layout = place(blocks, 0, kSteps);
    CHECK(layout.address == std::vector<std::uint64_t>{0, 64, 0});
  }

  TEST_CASE("live bytes are those of each step and the peak is by category") {
    std::vector<Block> blocks = {block(8, -1, 0), block(16, 0, 2), block(24, 2, 3)};
    blocks[1].category = Category::exchange;
    const Layout layout = place(blocks, 0, 3);
    CHECK(layout.live == std::vector<std::uint64_t>{24, 16, 40});
    CHECK(layout.peak[static_cast<std::size_t>(Category::exchange)] == 16);
    CHECK(layout.peak[static_cast<std::size_t>(Category::tensors)] == 24);
    CHECK(layout.end == 40);
  }

  TEST_CASE("a program without buffers needs nothing") {
    const Layout layout = place({}, 48, 0);
    CHECK(layout.end == 48);
    CHECK(layout.live.empty());
    CHECK(layout.peak == CategoryBytes{});
  }

  TEST_CASE("no two live buffers overlap in thousands of random layouts") {
    std::mt19937 random(7);
    for (int round = 0; round < 4000; ++round) {
      const std::vector<Block> blocks = random_blocks(random);
      const std::uint64_t base = random() % 1000;
      const Layout layout = place(blocks, base, kSteps);
      REQUIRE(broken_promises(layout, blocks, base) == 0);
      const std::uint64_t need =
          std::accumulate(layout.peak.begin(), layout.peak.end(), std::uint64_t{0});
      REQUIRE(need == layout.end - base);
    }
  }

  TEST_CASE("random layouts stay near what is live at once") {
    std::mt19937 random(11);
    double worst = 0;
    for (int round = 0; round < 500; ++round) {
      std::vector<Block> blocks = random_blocks(random);
      for (Block& each : blocks) each.align = 1;
      const Layout layout = place(blocks, 0, kSteps);
      const std::uint64_t live = *std::max_element(layout.live.begin(), layout.live.end());
      if (live > 2000) worst = std::max(worst, double(layout.end) / double(live));
    }
    CHECK(worst < 1.35);
    CHECK(worst >= 1.0);
  }
}
