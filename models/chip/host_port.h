#pragma once

#include <cstdint>

#include <systemc>

#include "sim/program/program.h"

namespace tessera {

/// How a chip asks its host for a transfer of the program (program::HostTransfer).
class HostPort : public virtual sc_core::sc_interface {
 public:
  struct Done {
    Cycle cycles;  ///< from the last tile's arrival on
    Bytes bytes;
  };
  /// Moves the bytes of the transfer at step `step` of the program, through debug access.
  virtual Done transfer(std::uint32_t step) = 0;
};

}  // namespace tessera
