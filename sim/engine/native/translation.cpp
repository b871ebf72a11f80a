#include "sim/engine/native/translation.h"

#include "sim/engine/step.h"
#if TESSERA_NATIVE
#include "sim/engine/native/emit/emitter.h"
#endif

// CMake defines TESSERA_NATIVE where the host's processor and AsmJit allow it.

namespace tessera::engine::native {

void due_handler(const Op* op, Context*, std::byte*, Frame* frame, std::int64_t slots,
                 std::uint64_t work) {
  hand_over(Reason::due, op, frame, slots, work);
}

void due_inside_handler(const Op* op, Context*, std::byte*, Frame* frame, std::int64_t slots,
                        std::uint64_t work) {
  hand_over(Reason::due_inside, op, frame, slots, work);
}

#if TESSERA_NATIVE

struct Translation::Runtime {
  asmjit::JitRuntime jit;
};

Translation::Translation() = default;
Translation::~Translation() = default;

std::vector<Entry*> Translation::translate(Region& region, const Setting& setting) {
  static_assert(offsetof(Entry, original) == kOriginalAt);
  if (!runtime_) runtime_ = std::make_unique<Runtime>();
  asmjit::CodeHolder code;
  if (code.init(runtime_->jit.environment()) != asmjit::kErrorOk) return {};
  Emitter emitter(code, region, setting);
  const std::vector<asmjit::Label> labels = emitter.emit();
  std::byte* base = nullptr;
  if (runtime_->jit.add(&base, &code) != asmjit::kErrorOk) return {};
  std::vector<Entry*> made;
  for (std::size_t i = 0; i < region.nodes.size(); ++i) {
    if (!region.nodes[i].kept) {
      made.push_back(nullptr);
      continue;
    }
    const auto handler = reinterpret_cast<Handler>(base + code.labelOffset(labels[i]));
    entries_.push_back({{.handler = handler}, region.nodes[i].first});
    made.push_back(&entries_.back());
  }
  return made;
}

#else

struct Translation::Runtime {};
Translation::Translation() = default;
Translation::~Translation() = default;
std::vector<Entry*> Translation::translate(Region&, const Setting&) { return {}; }

#endif

}  // namespace tessera::engine::native

namespace tessera::engine {

bool native_available() { return TESSERA_NATIVE != 0; }

}  // namespace tessera::engine
