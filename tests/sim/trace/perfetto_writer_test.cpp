#include "sim/trace/perfetto_writer.h"

#include <sstream>

#include <doctest/doctest.h>

#include "tests/sim/trace/perfetto_reader.h"

using namespace tessera;
using trace::PerfettoWriter;

TEST_SUITE("unit") {
  TEST_CASE("slices, counters and instants are read back as they were written") {
    std::ostringstream out;
    PerfettoWriter writer(out);
    const auto parent = writer.add_track(PerfettoWriter::kNoParent, "parent");
    const auto child = writer.add_track(parent, "child");
    const auto counter = writer.add_counter(parent, "bytes", PerfettoWriter::Unit::bytes);
    const auto name = writer.add_event_name(std::string(300, 'n'));
    const auto cycle = writer.add_annotation_name("cycle");
    writer.begin(child, 5, name, {{cycle, UINT64_MAX}});
    writer.begin(child, 6, writer.add_event_name("inner"), {});
    writer.end(child, 7);
    writer.end(child, std::uint64_t{1} << 60);
    writer.counter(counter, 9, -3);
    writer.instant(parent, 10, "that is all");
    writer.flush();
    CHECK(writer.bytes() == out.str().size());

    const test::PerfettoTrace read = test::read_perfetto(out.str());
    REQUIRE(read.slices.size() == 2);
    CHECK(read.slices[0].track == "parent/child");
    CHECK(read.slices[0].name == std::string(300, 'n'));
    CHECK(read.slices[0].begin == 5);
    CHECK(read.slices[0].end == std::uint64_t{1} << 60);
    CHECK(read.slices[0].arguments.at("cycle") == UINT64_MAX);
    CHECK(read.slices[1].name == "inner");
    CHECK(read.slices[1].arguments.empty());
    CHECK(read.slices[1].end == 7);
    CHECK(read.counters.at("parent/bytes").at(9) == -3);
    CHECK(read.instants == std::vector<std::string>{"that is all"});
  }
}
