#include "sim/command/neighbours.h"

#include <map>

namespace tessera::command {
namespace {

/// Adds those along one number: rows of one text in all others, in rising order.
void add_along(const ValidationSet& set, const std::vector<Row>& rows, std::size_t along,
               std::vector<Change>& found) {
  const Neighbours& neighbours = set.neighbours;
  std::map<std::string, std::map<double, const Row*>> groups;
  for (const Row& row : rows) {
    if (!row.error.empty() || row.point->published == 0) continue;
    const config::Json at = value_of(set, *row.point, neighbours.over[along]);
    if (!at.is_number()) continue;
    std::string others;
    for (std::size_t i = 0; i < neighbours.over.size(); ++i)
      if (i != along) others += value_of(set, *row.point, neighbours.over[i]).dump() + " ";
    for (const std::string& key : neighbours.same)
      others += value_of(set, *row.point, key).dump() + " ";
    groups[others][at.get<double>()] = &row;
  }
  for (const auto& [others, group] : groups)
    for (auto to = group.begin(), from = to++; to != group.end(); from = to++)
      found.push_back({from->second, to->second, to->second->ratio() / from->second->ratio()});
}

}  // namespace

std::vector<Change> changes(const ValidationSet& set, const std::vector<Row>& rows) {
  std::vector<Change> found;
  for (std::size_t i = 0; i < set.neighbours.over.size(); ++i) add_along(set, rows, i, found);
  return found;
}

}  // namespace tessera::command
