#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/simulation.h"
#include "sim/program/assembler.h"
#include "sim/program/image.h"
#include "tests/models/in_child.h"

/// A small program with every kind of step: tiles with unequal work pass words around a ring.
namespace tessera::sample {

using program::Assembler;
using program::BufferId;
using program::Program;
using program::Reg;

inline MachineConfig machine(std::uint32_t tiles) {
  MachineConfig config;
  config.tile.overlap = true;
  config.name = "sample";
  config.tiles = tiles;
  config.clock_ghz = 1.85;
  config.tile.sram_kib = 16;
  return config;
}

/// A loop of as many iterations as the word at argument 0; then t0 holds the word plus one and t1
/// argument 1.
inline Assembler spin() {
  Assembler code;
  code.load_word(Reg::t0, Reg::a0, 0);
  code.load_word(Reg::t1, Reg::a0, 4);
  code.load_word(Reg::t2, Reg::t0, 0);
  code.add_immediate(Reg::t0, Reg::t2, 1);
  code.emit({.mnemonic = isa::Mnemonic::bdnz, .rs1 = 7, .imm = 0});
  return code;
}

/// For all six workers: all run the loop, then worker 0 stores the word plus one at argument 1.
inline program::Codelet spin_and_store() {
  Assembler code = spin();
  code.emit({.mnemonic = isa::Mnemonic::csrrs, .rd = 7, .imm = 0xcc0});
  code.emit({.mnemonic = isa::Mnemonic::bne, .rs1 = 7, .rs2 = 0, .imm = 8});
  code.emit({.mnemonic = isa::Mnemonic::sw, .rs1 = 6, .rs2 = 5});
  code.control(0);
  return {"spin_and_store", code.take()};
}

/// For the supervisor alone: runs the loop, stores the word plus one, returns to its program.
inline program::Codelet spin_and_return() {
  Assembler code = spin();
  code.emit({.mnemonic = isa::Mnemonic::sw, .rs1 = 6, .rs2 = 5});
  code.emit({.mnemonic = isa::Mnemonic::jalr, .rs1 = 1});
  return {"spin_and_return", code.take()};
}

/// Adds 1 to the word at argument 0.
inline program::Codelet add_one() {
  Assembler code;
  code.load_word(Reg::t0, Reg::a0, 0);
  code.load_word(Reg::t1, Reg::t0, 0);
  code.add_immediate(Reg::t1, Reg::t1, 1);
  code.emit({.mnemonic = isa::Mnemonic::sw, .rs1 = 5, .rs2 = 6});
  code.control(0);
  return {"add_one", code.take()};
}

/// Worker w loads two words from external address (argument 0) + 16 w to (argument 1) + 8 w, adds
/// one to the first modulo 64, and stores both in external memory 8 bytes after those it loaded.
inline program::Codelet bring_and_store() {
  using isa::Mnemonic;
  Assembler code;
  code.emit({.mnemonic = Mnemonic::csrrs, .rd = 5, .imm = 0xcc0});
  code.emit({.mnemonic = Mnemonic::slli, .rd = 5, .rs1 = 5, .imm = 3});
  code.load_word(Reg{11}, Reg::a0, 0);
  code.load_word(Reg{12}, Reg::a0, 4);
  code.emit({.mnemonic = Mnemonic::add, .rd = 12, .rs1 = 12, .rs2 = 5});
  code.emit({.mnemonic = Mnemonic::sh1add, .rd = 11, .rs1 = 5, .rs2 = 11});
  code.load_immediate(Reg{13}, 8);
  code.emit({.mnemonic = Mnemonic::ldma, .rd = 13, .rs1 = 12, .rs2 = 11});
  code.load_word(Reg::t2, Reg{12}, 0);
  code.add_immediate(Reg::t2, Reg::t2, 1);
  code.emit({.mnemonic = Mnemonic::andi, .rd = 7, .rs1 = 7, .imm = 63});
  code.emit({.mnemonic = Mnemonic::sw, .rs1 = 12, .rs2 = 7});
  code.add_immediate(Reg{11}, Reg{11}, 8);
  code.emit({.mnemonic = Mnemonic::sdma, .rd = 13, .rs1 = 12, .rs2 = 11});
  code.control(0);
  return {"bring_and_store", code.take()};
}

/// A buffer that the host reads after the run.
inline BufferId add_kept(Program& program, std::uint32_t tile, std::uint64_t bytes,
                         std::function<void(std::span<std::byte>)> contents = {}) {
  return program.add_buffer({.tile = TileId{tile},
                             .bytes = bytes,
                             .keep = true,
                             .contents = std::move(contents),
                             .name = "kept"});
}
/// A kept buffer whose first word is `first`.
inline BufferId add_words(Program& program, std::uint32_t tile, std::uint64_t bytes,
                          std::uint32_t first) {
  return add_kept(program, tile, bytes, [first](std::span<std::byte> to) {
    std::memcpy(to.data(), &first, sizeof first);
  });
}

struct Ring {
  Program program;
  std::vector<BufferId> words;  ///< tile i's: i + 1 at first, one more after each round
};

/// `rounds` times: each tile adds one to its word and passes it on; one first step is unmeasured.
inline Ring ring(std::uint32_t tiles, std::uint32_t rounds) {
  Ring ring{Program(tiles), {}};
  Program& program = ring.program;
  const std::uint32_t codelet = program.add_codelet(spin_and_store());
  program::ComputeSet work{"work", {}};
  program::Exchange pass{"pass", {}};
  std::vector<BufferId> results;
  for (std::uint32_t i = 0; i < tiles; ++i) {
    ring.words.push_back(add_words(program, i, 4, i + 1));
    results.push_back(
        program.add_buffer({.tile = TileId{i}, .bytes = 4, .contents = {}, .name = "result"}));
  }
  for (std::uint32_t i = 0; i < tiles; ++i) {
    work.vertices.push_back({TileId{i},
                             codelet,
                             program::Executor::all_workers,
                             0,
                             {program::Place{ring.words[i]}, program::Place{results[i]}}});
    pass.copies.push_back({{results[i]}, 4, {{ring.words[(i + 1) % tiles]}}});
  }
  program::Sequence body{{{work, true}, {pass, true}}};
  program.main().steps = {{program::ComputeSet{"warm up", {}}, false},
                          {program::Repeat{rounds, body}, true}};
  return ring;
}

inline program::Images compile(const Program& program, const MachineConfig& config) {
  return program::compile(
      program, config, *fabric::make_exchange_compiler(config.fabric, fabric::NodePorts(config)));
}

using View = std::function<std::string(const Simulation&, const RunResult&)>;

/// Runs a program in a separate process. Returns what `view` returns, or the error as in_child()
/// does. `spoil` changes the images before the run.
inline std::string run(const MachineConfig& config, const Program& program,
                       const RunOptions& options, const View& view,
                       const std::function<void(program::Images&)>& spoil = {}) {
  return in_child([&] {
    program::Images images = compile(program, config);
    if (spoil) spoil(images);
    Simulation machine(config, program, images, options);
    const RunResult result = machine.run();
    return view(machine, result);
  });
}

/// " 5 2 3": the first word of each buffer.
inline std::string words_of(const Simulation& machine, std::span<const BufferId> buffers) {
  std::string text;
  for (const BufferId id : buffers) {
    std::uint32_t word = 0;
    machine.memory().read({id}, std::as_writable_bytes(std::span(&word, 1)));
    text += fmt::format(" {}", word);
  }
  return text;
}

/// Every part of a result that must not depend on the host.
inline std::string text(const RunResult& result) {
  const auto time = [](const TimeParts& parts) {
    return fmt::format("{} {} {} {} {}", parts.compute.count(), parts.exchange.count(),
                       parts.sync.count(), parts.wait.count(), parts.total().count());
  };
  std::string out =
      fmt::format("{} {} {} {} {} {}\n", time(result.time), result.supersteps, result.instructions,
                  result.flops, result.exchange_bytes.count(), result.multicast_bytes.count());
  for (const SuperstepRecord& step : result.steps)
    out += fmt::format("{} {} {} {} {} {} {} {}\n", step.start.count(), time(step.time),
                       index(step.last_tile), step.program_step, step.instructions,
                       step.exchanged.count(), step.least_compute.count(), step.sum_compute);
  for (const TileRecord& tile : result.tiles)
    out +=
        fmt::format("{} {} {} {} {} {}\n", tile.compute.count(), tile.exchange.count(),
                    tile.sync.count(), tile.instructions, tile.sent.count(), tile.received.count());
  return out;
}

}  // namespace tessera::sample
