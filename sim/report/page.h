#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/report/run_folder.h"
#include "sim/report/table.h"

namespace tessera::report {

/// One self-contained HTML file: the runs' data and the viewer of tools/viewer, which is embedded
/// in this program. Needs no network and no other file. Shows one run, or compares several. `words`
/// explains the words on the page: {"words": [[name, text]], "labels": {text: name}}.
std::string page(std::span<const RunFolder> runs, const nlohmann::ordered_json& words);

/// Operations of the widest vector instruction per type, for rooflines.
nlohmann::ordered_json vector_flops();

/// The viewer's page with other data: {"sweep": ...} or {"validation": ...}.
std::string page(const nlohmann::ordered_json& data,
                 const nlohmann::ordered_json& words = nlohmann::ordered_json::object());

// Compact text forms of tables, which tools/viewer/columns.js reads.
/// Compresses bytes (zlib) and encodes them in base64.
std::string pack_bytes(std::span<const std::uint8_t> bytes);

/// Scales numbers by 10^decimals and rounds them; encodes differences of neighbours as zigzag (0,
/// -1, 1, -2, ...) varints of seven bits a byte, lowest first; then as pack_bytes(). Exact below
/// 2^53.
std::string pack_numbers(std::span<const double> values, unsigned decimals);

/// {rows, columns: [{name, decimals, words, data}]}; `words` only for columns of words.
nlohmann::ordered_json pack_table(const Table& table);

}  // namespace tessera::report
