#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/op.h"

namespace tessera::engine {

constexpr std::uint32_t kBytesOfInstruction = 4;

/// Code decoded for walks, for one role.
class WalkCode {
 public:
  WalkCode(std::span<const std::byte> bytes, Role role);

  enum class Kind : std::uint8_t {
    nothing,     ///< no effect on x registers and memory
    unknown_rd,  ///< writes an unknown value to rd
    arithmetic,
    access,
    branch,
    jump,
    jump_register,
    loop,
    csr,
    stop,
    illegal
  };
  struct Step {
    Op op;
    isa::Instruction instruction;
    Kind kind = Kind::illegal;
    bool loads_x = false;      ///< loads into an x register
    bool loads_index = false;  ///< the first loaded value becomes an address
    std::uint32_t reads = 0;   ///< x registers (bit mask): operands, addresses
    std::uint8_t stored = 0;   ///< x register whose value is stored, if `stores_x`
    bool stores_x = false;
    std::vector<std::uint8_t> bases;  ///< base registers; an index's base first
    std::uint32_t others = 0;         ///< x registers read, except bases and stored (bit mask)
    bool moves = false;               ///< adds `others` to the bases before the access
    std::uint32_t uses = 0;           ///< all x registers that it reads (bit mask)
    std::uint32_t sets = 0;           ///< the register it writes without reading it (bit)
    std::uint32_t next = 0;           ///< pc of the next step that is not `nothing`
  };

  [[nodiscard]] Role role() const { return role_; }
  /// Null outside the code.
  [[nodiscard]] const Step* at(std::uint32_t pc) const;

 private:
  Role role_;
  std::vector<Step> steps_;
  Step end_;  ///< at kReturnAddress
};

}  // namespace tessera::engine
