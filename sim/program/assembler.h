#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/isa/mnemonic.h"

/// Appends instructions to tile code. Calls and jumps are one instruction each, with a reach of
/// 1 MiB, or two with any reach.
namespace tessera::program {

/// Integer registers by their ABI names.
enum class Reg : std::uint8_t {
  zero = 0,
  ra = 1,
  sp = 2,
  t0 = 5,
  t1 = 6,
  t2 = 7,
  s0 = 8,
  s1 = 9,
  a0 = 10,
  a1 = 11,
  s2 = 18,
  t3 = 28,
  t4 = 29,
  t5 = 30,
  t6 = 31
};

enum class Reach : std::uint8_t {
  near,  ///< jal
  far    ///< auipc and jalr; jumps use t0
};

class Assembler {
 public:
  explicit Assembler(Reach reach = Reach::near) : reach_(reach) {}

  /// True if every call and jump reaches its target; otherwise write the code again with
  /// Reach::far.
  [[nodiscard]] bool reaches() const { return reaches_; }
  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(bytes_.size()); }
  void align(std::uint32_t multiple);
  void append(std::span<const std::byte> code);
  void emit(const isa::Instruction& instruction);

  void add_immediate(Reg to, Reg from, std::int32_t immediate);
  /// Emits as few instructions as the value needs.
  void load_immediate(Reg to, std::uint32_t value);
  /// Always emits two instructions, so that patch_address can set the value later.
  void load_address(Reg to, std::uint32_t value);
  void patch_address(std::uint32_t at, Reg to, std::uint32_t value);
  void load_word(Reg to, Reg base, std::int32_t offset);
  void call(std::uint32_t target);
  void run(Reg code, Reg argument, Reg worker);
  void control(std::uint32_t operation);  ///< xctl
  void start_exchange(Reg list);
  void wait_for_exchange(Reg list);  ///< zero: for all started exchanges
  /// Jumps to `target`, at any distance.
  void jump(std::uint32_t target);
  /// Continues if `value` is not zero, else jumps to the place of land_here(result).
  std::uint32_t leave_if_zero(Reg value);
  void land_here(std::uint32_t from);
  /// Decrements `counter` and jumps back to `target` while it is not zero, at any distance.
  void loop(Reg counter, std::uint32_t target);

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put(std::uint32_t at, const isa::Instruction& instruction);
  /// Jumps to `target`; `link` receives the return address, or is zero.
  void put_jump(std::uint32_t at, std::uint32_t target, Reg link);
  [[nodiscard]] std::uint32_t jump_bytes() const;

  Reach reach_;
  bool reaches_ = true;
  std::vector<std::byte> bytes_;
};

}  // namespace tessera::program
