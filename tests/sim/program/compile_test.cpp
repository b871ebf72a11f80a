#include <algorithm>
#include <cstring>
#include <numeric>

#include <doctest/doctest.h>

#include "tests/refusal.h"
#include "tests/sim/program/samples.h"

using namespace tessera;
using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

std::uint64_t need(const TileImage& tile) {
  return std::accumulate(tile.memory.begin(), tile.memory.end(), std::uint64_t{0});
}

std::uint64_t need(const TileImage& tile, Category category) {
  return tile.memory[static_cast<std::size_t>(category)];
}

std::uint32_t address(const Images& images, BufferId id) {
  return images.buffer_address[static_cast<std::size_t>(id)].count();
}

/// A ring: every tile sends its buffer to the next tile, then works on the bytes it received.
Program ring(std::uint32_t tiles, std::uint32_t bytes) {
  Program program(tiles);
  add_codelet(program, "work", 100);
  Exchange exchange{"ring", {}};
  std::vector<Vertex> vertices;
  std::vector<BufferId> from;
  std::vector<BufferId> to;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    from.push_back(add_initialised(program, tile, bytes));
    to.push_back(add_kept(program, tile, bytes));
    vertices.push_back(vertex(tile, {from.back(), to.back()}));
  }
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    exchange.copies.push_back({{from[tile], 0}, bytes, {{to[(tile + 1) % tiles], 0}}});
  }
  program.main().steps = {{exchange, true}, compute(std::move(vertices))};
  return program;
}

/// The exit code and message of the error that `body` throws.
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return fmt::format("{} {}", static_cast<int>(error.code()), error.what());
  }
  return "nothing was thrown";
}

std::string refusal(const Program& program, const MachineConfig& config,
                    const ExchangeCompiler& exchanges = CountingExchanges()) {
  return message_of([&] { compile(program, config, exchanges); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("images do not depend on the host threads that make exchanges") {
    constexpr std::uint32_t kTiles = 8'000;  // several exchanges are large enough for threads
    Program program = ring(kTiles, 64);
    Exchange again = std::get<Exchange>(program.main().steps.front().action);
    for (const char* name : {"second", "third", "fourth"}) {
      again.name = name;
      again.copies.pop_back();
      program.main().steps.push_back({again, true});
    }
    CountingExchanges exchanges;
    const Images one = compile(program, machine(kTiles), exchanges);
    exchanges.use_threads(3);
    const Images three = compile(program, machine(kTiles), exchanges);
    bool same = one.tiles.size() == three.tiles.size();
    for (std::size_t tile = 0; same && tile < one.tiles.size(); ++tile)
      same = one.tiles[tile].memory == three.tiles[tile].memory &&
             std::ranges::equal(one.tiles[tile].segments, three.tiles[tile].segments,
                                [](const Segment& a, const Segment& b) {
                                  return a.address == b.address && a.bytes == b.bytes;
                                });
    CHECK(same);
    for (std::size_t step = 0; step < one.steps.size(); ++step)
      CHECK(one.steps[step].exchange_makespan == three.steps[step].exchange_makespan);
  }

  TEST_CASE("tiles that differ only in data share one code image") {
    Program program = ring(16, 64);
    // Tile 3 also runs another vertex.
    program.main().steps.push_back(compute({vertex(3, {})}));
    const Images images = compile(program, machine(16), CountingExchanges());
    for (std::uint32_t tile = 0; tile < 16; ++tile) {
      CHECK((images.tiles[tile].code == images.tiles[0].code) == (tile != 3));
    }
  }

  TEST_CASE("tiles with lists of different lengths still share code") {
    Program program = with_codelet(4);
    const BufferId from = add_initialised(program, 0, 8);
    std::vector<BufferId> to;
    for (std::uint32_t tile = 1; tile < 4; ++tile) to.push_back(add_kept(program, tile, 8));
    program.main().steps = {exchange(from, to, 8)};
    const Images images = compile(program, machine(4), CountingExchanges());
    CHECK(images.tiles[0].code == images.tiles[1].code);
    CHECK(need(images.tiles[0], Category::exchange) == need(images.tiles[1], Category::exchange));
    CHECK(images.tiles[1].segments.size() == 2);
  }

  TEST_CASE("argument blocks hold constants and resolved addresses") {
    Program program = with_codelet(1);
    const BufferId a = add_initialised(program, 0, 100);
    const BufferId b = add_kept(program, 0, 50);
    Vertex made{TileId{0}, 0, Executor::all_workers, 0, {}};
    made.arguments = {77U, Place{a, 12}, Place{b, 0}, Place{a, 100}};
    program.main().steps = {compute({made})};
    const Images images = compile(program, machine(1), CountingExchanges());
    std::vector<std::uint32_t> words(4);
    const Segment& block = images.tiles[0].segments.at(0);
    REQUIRE(block.bytes.size() == 16);
    std::memcpy(words.data(), block.bytes.data(), 16);
    CHECK(words == std::vector<std::uint32_t>{77, address(images, a) + 12, address(images, b),
                                              address(images, a) + 100});
    CHECK(images.tiles[0].initialised == std::vector<BufferId>{a});
  }

  TEST_CASE("categories sum to the need and nothing lies beyond it") {
    const Program program = ring(5, 1000);
    const Images images = compile(program, machine(5), CountingExchanges());
    const TileImage& tile = images.tiles[2];
    CHECK(need(tile, Category::code) == 104);
    CHECK(need(tile, Category::code) + need(tile, Category::control) == tile.code->bytes.size());
    CHECK(need(tile, Category::arguments) == 8);
    CHECK(need(tile, Category::exchange) == 8 + 16);
    CHECK(need(tile, Category::tensors) == 2000);
    CHECK(need(tile, Category::stack) >= 256);
    const Segment& last = tile.segments.back();
    CHECK(last.address.count() + last.bytes.size() == need(tile));
    CHECK(images.steps[0].live_bytes == 2000);
    const MemorySummary summary = summarise_memory(images);
    CHECK(index(summary.max_tile) == 0);
    CHECK(summary.max_bytes == need(tile));
    CHECK(summary.total_bytes == 5 * need(tile));
  }

  TEST_CASE("a program that does not fit says which tile is over and by how much") {
    Program program = ring(3, 60000);
    const BufferId large = add_kept(program, 1, 210000);
    program.main().steps.push_back(compute({vertex(1, {large})}));
    const std::string message = refusal(program, machine(3));
    CHECK(message.find("2 the program does not fit: tile 1 needs") == 0);
    test::check_holds(message, {"of 262144 (machine.tile.sram_kib = 256)", "tensors",
                                "the fullest of 3 tiles, in bytes of 262144 each; 1 of them over"});
    MachineConfig larger = machine(3);
    larger.tile.sram_kib = 320;
    CHECK_NOTHROW(compile(program, larger, CountingExchanges()));
    MachineConfig apart = machine(3);
    apart.tile.program_kib = 1;
    CHECK(test::holds(refusal(program, apart),
                      "in bytes of 262144 of SRAM and 1024 for code, lists and arguments each"));
  }

  TEST_CASE("the fuller of a tile's two memories counts, as bytes of SRAM") {
    CategoryBytes bytes{};
    bytes[static_cast<std::size_t>(Category::code)] = 100;
    bytes[static_cast<std::size_t>(Category::exchange)] = 28;
    bytes[static_cast<std::size_t>(Category::tensors)] = 1000;
    bytes[static_cast<std::size_t>(Category::stack)] = 24;
    TileConfig tile{.sram_kib = 64};
    CHECK(as_sram(bytes, tile) == 1152);
    tile.program_kib = 4;
    CHECK(as_sram(bytes, tile) == 128 * 16);
    tile.program_kib = 64;
    CHECK(as_sram(bytes, tile) == 1024);
  }

  TEST_CASE("a program that does not fit otherwise takes the shortest lists") {
    class LongLists : public CountingExchanges {
     public:
      explicit LongLists(std::size_t bytes) : bytes_(bytes) {}
      [[nodiscard]] CompiledExchange compile(std::uint32_t exchange,
                                             std::span<const PlacedCopy> copies) const override {
        CompiledExchange made = CountingExchanges::compile(exchange, copies);
        for (DescriptorList& list : made.lists) list.bytes.resize(list.bytes.size() + bytes_);
        return made;
      }
      [[nodiscard]] std::unique_ptr<ExchangeSizer> shortest() const override {
        return bytes_ > 0 ? std::make_unique<LongLists>(0) : nullptr;
      }

     private:
      std::size_t bytes_;
    };
    const Program program = ring(3, 60000);
    const auto lists = [&](std::size_t bytes) {
      const Images images = compile(program, machine(3), LongLists(bytes));
      CHECK(images.shortest_lists ==
            resource_usage(program, machine(3), LongLists(bytes)).shortest_lists);
      CHECK((need(images.tiles[0], Category::exchange) == 24) ==
            (bytes == 0 || images.shortest_lists));
      return images.shortest_lists;
    };
    CHECK(!lists(0));
    CHECK(!lists(100'000));
    CHECK(lists(200'000));
    MachineConfig tight = machine(3);
    tight.tile.sram_kib = 100;
    const std::string message = refusal(program, tight, LongLists(200'000));
    CHECK(test::holds(message, "tile 0 needs"));
  }

  TEST_CASE("buffers beyond any address are refused too") {
    Program program = with_codelet(1);
    std::vector<BufferId> buffers(3);
    for (BufferId& id : buffers) id = add_kept(program, 0, 0x8000'0000U);
    program.main().steps = {compute({vertex(0, buffers)})};
    const std::string message = refusal(program, machine(1));
    CHECK(test::holds(message, "6442450944"));
  }

  TEST_CASE("a buffer that no offset reaches into is refused") {
    Program program(2);
    program.main().steps.push_back(
        exchange(add_kept(program, 0, 1ULL << 33U), {add_kept(program, 1, 8)}, 8));
    CHECK(refusal(program, machine(2)) ==
          "2 the program does not fit: kept takes 8589934592 bytes on tile 0, allowed 256 KiB of "
          "everything");
  }

  TEST_CASE("a broken program is our own bug and named") {
    const auto defect = [](const std::function<void(Program&)>& change) {
      Program program = ring(2, 64);
      return message_of([&] {
        change(program);
        compile(program, machine(2), CountingExchanges());
      });
    };
    const auto add_vertex = [](const Vertex& made) {
      return [made](Program& program) { program.main().steps.push_back(compute({made})); };
    };
    CHECK(defect(add_vertex({TileId{9}, 0, Executor::supervisor, 0, {}})) ==
          "4 program: compute: a vertex on tile 9 of 2");
    CHECK(defect(add_vertex({TileId{0}, 4, Executor::supervisor, 0, {}})) ==
          "4 program: compute: codelet 4 of 1");
    CHECK(defect(add_vertex({TileId{0}, 0, Executor::one_worker, 6, {}})) ==
          "4 program: a vertex for worker 6 of 6");
    CHECK(defect(add_vertex(vertex(0, {BufferId{2}}))) ==
          "4 program: compute: a vertex on tile 0 names a buffer of tile 1");
    CHECK(defect(add_vertex(vertex(0, {BufferId{44}}))) == "4 program: compute: buffer 44 of 4");
    CHECK(defect([](Program& program) {
            program.main().steps.push_back(exchange(BufferId{0}, {BufferId{3}}, 65));
          }) == "4 program: exchange: bytes 0 to 65 of buffer 0 (initialised) of 64 bytes");
    CHECK(defect([](Program& program) {
            program.main().steps.push_back(exchange(BufferId{0}, {BufferId{3}}, 0));
          }) == "4 program: exchange: a copy of no bytes");
    CHECK(defect([](Program& program) { add_buffer(program, 2, 8); }) ==
          "4 program: buffer sample on tile 2 of 2");
  }

  TEST_CASE("a buffer of no bytes takes no memory") {
    Program program = ring(2, 64);
    const Images without = compile(program, machine(2), CountingExchanges());
    program = ring(2, 64);
    const BufferId empty = add_initialised(program, 0, 0);
    std::get<ComputeSet>(program.main().steps[1].action).vertices[0].arguments[0] = Place{empty, 0};
    const Images with = compile(program, machine(2), CountingExchanges());
    CHECK(with.tiles[0].memory == without.tiles[0].memory);
  }

  TEST_CASE("codelets with the same bytes are one") {
    Program program(1);
    CHECK(program.add_codelet({"a", std::vector<std::byte>(8)}) == 0);
    CHECK(program.add_codelet({"b", std::vector<std::byte>(12)}) == 1);
    CHECK(program.add_codelet({"again", std::vector<std::byte>(8)}) == 0);
    CHECK(program.codelets().size() == 2);
  }
}
