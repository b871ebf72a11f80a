#include <doctest/doctest.h>

#include "tests/models/in_child.h"
#include "tests/models/sample_machine.h"
#include "tests/refusal.h"

using namespace tessera;
using program::Assembler;
using program::Reg;

namespace {

using Write = std::function<void(Assembler&, program::CodeImage&)>;

std::shared_ptr<const program::CodeImage> code(const Write& write) {
  auto image = std::make_shared<program::CodeImage>();
  image->symbols.emplace_back(Address(0), "control");
  Assembler out;
  write(out, *image);
  image->bytes = out.take();
  return image;
}

/// Runs a machine with one tile for each program; returns how it ended.
std::string run(const std::vector<Write>& tiles, const RunOptions& options = {}) {
  return in_child([&] {
    program::Images images;
    for (const Write& write : tiles) {
      program::TileImage image{};
      image.code = code(write);
      images.tiles.push_back(image);
    }
    program::StepInfo one{};
    one.name = "one";
    program::StepInfo two{};
    two.name = "two";
    images.steps = {one, two};
    const auto count = static_cast<std::uint32_t>(tiles.size());
    Simulation machine(sample::machine(count), program::Program(count), images, options);
    const RunResult result = machine.run();
    return fmt::format("done after {} cycles", result.time.total().count());
  });
}

void sync_twice(Assembler& out, program::CodeImage& /*image*/) {
  out.control(16);
  out.control(16);
  out.control(0);
}
void sync_once(Assembler& out, program::CodeImage& /*image*/) {
  out.control(16);
  out.control(0);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a tile that ends while its zone still syncs is named, with those that wait") {
    CHECK(run({sync_twice, sync_twice, sync_once, sync_twice}) ==
          "exit 3: no progress: nothing will release the tiles that wait\n"
          "  tile 2: ended at cycle 92 while others still wait\n"
          "  tiles 0-1, 3: waiting at sync zone 0 since cycle 92 (3 of 4 tiles arrived), pc 0x8 "
          "(control)");
    CHECK(run({sync_twice, sync_twice}).find("done") == 0);
  }

  TEST_CASE("a worker that never ends is given up at the limit, with the tile's state") {
    const auto endless = [](Assembler& out, program::CodeImage& image) {
      constexpr std::uint32_t kWorker = 0x40;
      out.load_immediate(Reg::t0, kWorker);
      out.load_immediate(Reg::t1, 0);
      out.load_immediate(Reg::t2, 0xffffffff);  // all workers
      out.run(Reg::t0, Reg::t1, Reg::t2);
      out.control(1);
      out.control(0);
      out.align(kWorker);
      image.symbols.emplace_back(Address(kWorker), "spin");
      out.jump(kWorker);
    };
    RunOptions options{.max_cycles = 5000};
    const std::string text = run({sync_once, endless}, options);
    CAPTURE(text);
    CHECK(text.starts_with("exit 3: tiles ran past the limit of 5000 cycles"));
    test::check_holds(text, {"tile 0: waiting at sync zone 0 since cycle 1 (1 of 2 tiles arrived)",
                             "tile 1: ", "(spin)"});
  }

  TEST_CASE("tiles that branched apart are named with where each waits") {
    const auto in_step = [](std::uint32_t step) {
      return [step](Assembler& out, program::CodeImage& image) {
        image.steps.emplace_back(Address(0), step);
        out.control(16);
        out.control(0);
      };
    };
    CHECK(run({in_step(0), in_step(0)}).find("done") == 0);
    CHECK(run({in_step(0), in_step(0), in_step(1)}) ==
          "exit 3: tiles of sync zone 0 branched apart: tile 0 waits before step 0 (one), tile 2 "
          "before step 1 (two)");
  }

  TEST_CASE("a fault ends the run, that of the lowest tile if several fault at once") {
    const auto faulting = [](Assembler& out, program::CodeImage& /*image*/) {
      out.load_word(Reg::t0, Reg::zero, 2);
    };
    const std::string text = run({sync_twice, faulting, faulting});
    CHECK(text ==
          "exit 2: tile 1, supervisor: misaligned access at address 0x2\n"
          "  pc 0x0 (control): lw t0, 2(zero)");
  }
}
