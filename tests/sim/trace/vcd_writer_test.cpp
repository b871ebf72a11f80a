#include "sim/trace/vcd_writer.h"

#include <sstream>

#include <doctest/doctest.h>

#include "tests/sim/trace/vcd_reader.h"

using namespace tessera;
using trace::VcdWriter;

TEST_SUITE("unit") {
  TEST_CASE("a thousand signals are read back as they were written") {
    std::ostringstream out;
    VcdWriter writer(out);
    writer.begin_scope("top");
    const VcdWriter::Signal text = writer.add_text("text");
    for (int i = 0; i < 20'000; ++i) writer.add_number("n" + std::to_string(i), 64);
    writer.end_scope();
    writer.end_declarations();
    writer.at(0);
    writer.text(text, VcdWriter::word_of("a step\nof two"));
    writer.at(0);
    writer.number(text + 1, 5);
    writer.at(UINT64_MAX);
    writer.number(text + 20'000, UINT64_MAX);
    writer.comment("the end");
    writer.flush();
    CHECK(writer.bytes() == out.str().size());

    const test::Vcd vcd = test::read_vcd(out.str());
    CHECK(vcd.signals.size() == 20'001);
    CHECK(vcd.signals.at("top.text") == test::Vcd::Changes{{0, "a_step_of_two"}});
    CHECK(vcd.signals.at("top.n0") == test::Vcd::Changes{{0, "101"}});
    CHECK(vcd.signals.at("top.n19999") == test::Vcd::Changes{{UINT64_MAX, std::string(64, '1')}});
    CHECK(vcd.comments.back() == "the end");
  }
}
