#include "models/tile/issue.h"

#include "sim/base/errors.h"

namespace tessera {

std::unique_ptr<const Issue> make_issue(const TileConfig& tile) {
  if (tile.issue == "barrel") return std::make_unique<BarrelIssue>(tile.contexts);
  if (tile.issue == "single") {
    if (tile.contexts != 1)
      throw UserError(fmt::format("tile.contexts: found {}, allowed 1 with tile.issue \"single\"",
                                  tile.contexts));
    return std::make_unique<SingleIssue>();
  }
  throw UserError(
      fmt::format("tile.issue: found \"{}\", allowed \"barrel\" or \"single\"", tile.issue));
}

}  // namespace tessera
