#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "sim/engine/native/region.h"
#include "sim/engine/native/translation.h"

namespace tessera::engine::native {

/// Where a context was when its slots were checked.
struct Sighting {
  const Op* op = nullptr;
  const PipelineState* pipeline_state = nullptr;
  std::uint32_t size = 0;      ///< size of its memory
  std::uint32_t code_end = 0;  ///< end of the code in its memory
};

/// Where the context goes on.
struct Continuation {
  const Op* op = nullptr;
  bool translated = false;
};

/// Decides which regions of one code are translated: those around the places where contexts are
/// met. Every meeting pays for some instructions, so that translation never takes more than a
/// fraction of the time spent before. Not thread-safe.
class Translator {
 public:
  Translator(const HandlerSet& handlers, bool counts, bool timed)
      : handlers_(&handlers), counts_(counts), timed_(timed) {}

  /// Redirects all code that leads to an Op of the interpreter to its entry.
  using Patch = std::function<void(const Op* op, const Op* entry)>;
  Continuation met(const Sighting& meeting, const RegionContext& code, const Patch& patch);
  /// The interpreter's Op for an entry of translated code; other Ops are their own.
  [[nodiscard]] const Op* original(const Op* op) const;
  /// The entry for an Op of the interpreter, if there is one; else the Op.
  [[nodiscard]] const Op* entry(const Op* op) const;

 private:
  /// The entry that contexts reach: the last one made for its Op.
  struct KnownEntry {
    const Op* entry = nullptr;
    std::set<const PipelineState*> states;
    std::uint32_t size = 0, code_end = 0;
    std::size_t region = 0;  ///< index into regions_
    std::size_t again = 0;   ///< retranslations of its outgrown region
  };
  struct TranslatedRegion {
    std::size_t steps = 0;
    std::vector<const Edge*> untaken;  ///< exits that had never been taken
    std::vector<const Edge*> jumps;    ///< edges of jump_registers that may go elsewhere
  };
  [[nodiscard]] bool outgrown(const KnownEntry& known) const;
  [[nodiscard]] const Op* elsewhere_of(const Edge& edge) const;
  const std::vector<const Op*>& went(const Edge& edge);
  [[nodiscard]] bool fits(const KnownEntry& known, const Sighting& meeting) const;
  Continuation translate(const Sighting& meeting, const Op* op, const RegionContext& code,
                         const Patch& patch);

  const HandlerSet* handlers_;
  bool counts_;
  bool timed_;
  Translation translation_;
  std::size_t credit_ = 0;  ///< instructions that may be translated
  std::size_t growth_ = 0;  ///< instructions of outgrown regions that may be retranslated
  std::map<const Op*, std::uint32_t> meetings_;
  std::map<const Op*, KnownEntry> known_;  ///< by the interpreter's Op
  std::vector<TranslatedRegion> regions_;
  std::map<const Op*, const Op*> original_;  ///< by entry
  std::map<const Edge*, std::vector<const Op*>> went_;
};

}  // namespace tessera::engine::native
