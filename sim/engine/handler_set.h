#pragma once

#include <utility>

#include "sim/engine/control.h"
#include "sim/engine/step.h"

/// Fills the handler tables of one mode; included once per mode, since it instantiates everything.
namespace tessera::engine {

template <class Mode, isa::Mnemonic M>
constexpr Handler plain_handler() {
  if constexpr (M == isa::Mnemonic::jal) {
    return handler::jump<Mode>;
  } else if constexpr (M == isa::Mnemonic::jalr) {
    return handler::jump_register<Mode>;
  } else if constexpr (M == isa::Mnemonic::rpt) {
    return handler::loop<Mode>;
  } else if constexpr (Branching<M>) {
    return branch<Mode, M>;
  } else if constexpr (Straight<M>) {
    return step<Mode, M>;
  } else {
    static_assert(isa::info(M).issue == isa::IssueClass::control, "no semantics");
    return nullptr;  // handler::stop or handler::csr
  }
}

template <class Mode, std::size_t... I>
constexpr auto plain_handlers(std::index_sequence<I...>) {
  return std::array<Handler, sizeof...(I)>{plain_handler<Mode, static_cast<isa::Mnemonic>(I)>()...};
}

template <isa::Mnemonic M>
constexpr Handler directed_handler() {
  if constexpr (rounds(M)) {
    return step<Directed, M>;
  } else {
    return nullptr;
  }
}

template <std::size_t... I>
constexpr auto directed_handlers(std::index_sequence<I...>) {
  return std::array<Handler, sizeof...(I)>{directed_handler<static_cast<isa::Mnemonic>(I)>()...};
}

using EveryMnemonic = std::make_index_sequence<isa::kMnemonics>;

}  // namespace tessera::engine
