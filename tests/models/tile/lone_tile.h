#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/tile/tile.h"
#include "sim/base/errors.h"
#include "sim/isa/decode.h"
#include "sim/program/assembler.h"
#include "tests/refusal.h"
#include "tests/sim/machine/units.h"

namespace tessera {

/// Runs a tile until it depends on other nodes.
inline Arrival run_ahead(Tile& tile) {
  engine::Session session;
  return tile.run(session);
}

/// A tile outside any machine, with a hand-assembled program and 16 KiB of SRAM.
class LoneTile {
 public:
  using Reg = program::Reg;
  using Mnemonic = isa::Mnemonic;

  explicit LoneTile(bool check_races = false) {
    settings_.tile.sram_kib = 16;
    settings_.tile.contexts = 6;
    settings_.tile.matrix_unit = test::full_unit();
    settings_.max_cycles = Cycle(1'000'000);
    settings_.check_races = check_races;
  }
  explicit LoneTile(const TileConfig& tile) : LoneTile() { settings_.tile = tile; }

  TileConfig& config() { return settings_.tile; }
  /// Gives the workers access to external memory with these bytes.
  void reach(const ExternalConfig& external, double clock_ghz, std::span<std::byte> outside) {
    settings_.external = external;
    settings_.clock_ghz = clock_ghz;
    outside_ = outside;
  }
  program::Assembler& code() { return code_; }
  void seed(std::uint64_t seed) { settings_.seed = seed; }
  void limit(Cycle cycles) { settings_.max_cycles = cycles; }

  /// Adds a worker that takes `slots` including its end; returns its address.
  std::uint32_t idle_worker(std::uint32_t slots) {
    const std::uint32_t at = begin("idle");
    nops(slots - 1);
    code_.control(0);
    return at;
  }
  /// Adds a worker that loads the word at `load` and stores it at `store` (0: no access), each
  /// address plus `stride` times the worker's number; returns its address.
  std::uint32_t touching_worker(std::uint32_t load, std::uint32_t store, std::int32_t stride) {
    const std::uint32_t at = begin("touching");
    code_.emit({.mnemonic = Mnemonic::csrrs, .rd = 5, .imm = 0xcc0});
    code_.load_immediate(Reg::t1, static_cast<std::uint32_t>(stride));
    code_.emit({.mnemonic = Mnemonic::mul, .rd = 5, .rs1 = 5, .rs2 = 6});
    if (load != 0) code_.emit({.mnemonic = Mnemonic::lw, .rd = 7, .rs1 = 5, .imm = imm(load)});
    if (store != 0) code_.emit({.mnemonic = Mnemonic::sw, .rs1 = 5, .rs2 = 7, .imm = imm(store)});
    code_.control(0);
    return at;
  }

  /// Adds a worker with these instructions; returns its address.
  std::uint32_t worker(const std::vector<isa::Instruction>& instructions) {
    const std::uint32_t at = begin("worker");
    for (const isa::Instruction& each : instructions) code_.emit(each);
    return at;
  }

  /// Starts the supervisor's program here.
  void supervisor() { image_->entry = Address(begin("main")); }
  /// Emits three plain instructions and a `run`.
  void run(std::uint32_t code, std::uint32_t worker) {
    code_.load_address(Reg::t0, code);
    code_.load_immediate(Reg::t1, worker);
    code_.run(Reg::t0, Reg::a0, Reg::t1);
  }
  /// As run() on worker 0, with the matrix unit's block `number`.
  void run_block(std::uint32_t code, std::int32_t number) {
    code_.load_address(Reg::t0, code);
    code_.load_immediate(Reg::t1, 0);
    code_.emit({.mnemonic = Mnemonic::run_block, .rd = 6, .rs1 = 5, .rs2 = 10, .imm = number});
  }
  void nops(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) code_.add_immediate(Reg::zero, Reg::zero, 0);
  }
  void join() { code_.control(1); }
  void end() { code_.control(0); }
  void run_to_end(std::uint32_t code, std::uint32_t worker) {
    run(code, worker);
    join();
    end();
  }

  /// A supervisor that runs `code` on all workers with this a0, and ends.
  void run_all(std::uint32_t code, std::uint32_t a0) {
    supervisor();
    code_.load_immediate(Reg::a0, a0);
    run_to_end(code, 0xffffffff);
  }

  /// Loads the assembled code and creates the tile.
  Tile& tile() {
    image_->bytes = code_.take();
    image_->worker_stacks = Address(0x3000);
    std::memcpy(sram_.data(), image_->bytes.data(), image_->bytes.size());
    program_ = std::make_unique<TileProgram>(image_, settings_.tile);
    tile_ = std::make_unique<Tile>(settings_, *program_, TileId(5), sram_.data());
    tile_->reach(outside_);
    return *tile_;
  }
  /// Runs a program that depends on no other node to its end; returns its cycles.
  std::uint64_t cycles() {
    const Arrival arrival = run_ahead(tile());
    check(arrival.kind == Arrival::Kind::done, "lone tile: it did not end");
    return arrival.at.count();
  }
  std::string fault() {
    return test::refusal([&] { return run_ahead(tile()); });
  }
  template <class T>
  void write(std::uint32_t address, T value) {
    std::memcpy(sram_.data() + address, &value, sizeof value);
  }
  template <class T>
  [[nodiscard]] T read(std::uint32_t address) const {
    T value;
    std::memcpy(&value, sram_.data() + address, sizeof value);
    return value;
  }
  /// Decodes the instruction at `pc` of assembled code that has not been loaded yet.
  [[nodiscard]] isa::Instruction instruction(std::uint32_t pc) {
    std::uint32_t word;
    std::memcpy(&word, code_.bytes().data() + pc, sizeof word);
    return isa::decode(word).value();
  }
  [[nodiscard]] Tile& loaded() { return *tile_; }

 private:
  static std::int32_t imm(std::uint32_t address) { return static_cast<std::int32_t>(address); }
  std::uint32_t begin(const std::string& symbol) {
    code_.align(8);
    image_->symbols.emplace_back(Address(code_.here()), symbol);
    return code_.here();
  }

  TileSettings settings_;
  program::Assembler code_;
  std::shared_ptr<program::CodeImage> image_ = std::make_shared<program::CodeImage>();
  std::vector<std::byte> sram_ = std::vector<std::byte>(std::size_t{16} * 1024);
  std::span<std::byte> outside_;
  std::unique_ptr<TileProgram> program_;
  std::unique_ptr<Tile> tile_;
};

constexpr std::uint32_t kAll = 0xffffffff;

}  // namespace tessera
