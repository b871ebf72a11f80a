#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/report/run_folder.h"
#include "sim/report/table.h"

namespace tessera::report {

/// One HTML file with everything in it: the runs' data and the viewer of tools/viewer, which is
/// part of this program. Needs no network and no other file. One run, or several to compare.
/// `words` explains what the page writes: {"words": [[name, text]], "labels": {text: name}}.
std::string page(std::span<const RunFolder> runs, const nlohmann::ordered_json& words);

/// Operations of the widest vector instructions by type, for rooflines.
nlohmann::ordered_json vector_flops();

/// Makes the viewer's page with other data: {"sweep": ...} or {"validation": ...}.
std::string page(const nlohmann::ordered_json& data,
                 const nlohmann::ordered_json& words = nlohmann::ordered_json::object());

// Tables as small texts, for the page: tools/viewer/columns.js reads them.
/// Bytes deflated (zlib) and in base64.
std::string pack_bytes(std::span<const std::uint8_t> bytes);

/// The differences of neighbouring numbers, each times 10^decimals and rounded, zigzag (0, -1, 1,
/// -2, ...), seven bits a byte, the lowest first; then as pack_bytes(). Exact below 2^53.
std::string pack_numbers(std::span<const double> values, unsigned decimals);

/// {rows, columns: [{name, decimals, words, data}]}; words only for a column of words.
nlohmann::ordered_json pack_table(const Table& table);

}  // namespace tessera::report
