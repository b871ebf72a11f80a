#include "sim/engine/native/performers.h"

#include <array>

#include "sim/engine/step.h"

namespace tessera::engine::native {
namespace {

template <class Mode, isa::Mnemonic M>
bool perform_one(const Op* op, Context* context, std::byte* memory, Frame* frame) {
  return perform<Mode, M>(op, context, memory, frame);
}

template <class Mode, isa::Mnemonic M>
constexpr Performer performer_of() {
  constexpr bool kWanted = !std::is_same_v<Mode, Directed> || rounds(M);
  if constexpr (Straight<M> && kWanted) {
    return perform_one<Mode, M>;
  } else {
    return nullptr;
  }
}

template <class Mode, std::size_t... I>
constexpr auto performers(std::index_sequence<I...> /*all*/) {
  return std::array<Performer, sizeof...(I)>{
      performer_of<Mode, static_cast<isa::Mnemonic>(I)>()...};
}

}  // namespace

Performer performer(isa::Mnemonic mnemonic, bool directed) {
  using All = std::make_index_sequence<isa::kMnemonics>;
  static constexpr auto kCareful = performers<Careful>(All{});
  static constexpr auto kDirected = performers<Directed>(All{});
  return (directed ? kDirected : kCareful)[isa::index(mnemonic)];
}

}  // namespace tessera::engine::native
