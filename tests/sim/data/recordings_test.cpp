#include "sim/data/recordings.h"

#include <filesystem>
#include <string>
#include <vector>
#include <zlib.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/data/random.h"
#include "sim/data/read_file.h"
#include "tests/folder.h"
#include "tests/refusal.h"
#include "tests/sim/data/recordings_writer.h"

using namespace tessera;
using namespace tessera::test;

namespace {

std::string said(const data::SensorEvent& event) {
  return fmt::format("{} {} {} {}", event.microseconds, event.x, event.y, event.on ? "on" : "off");
}

using Read = std::uint64_t (*)(const std::filesystem::path&, std::uint64_t,
                               const data::TakeRecording&);

/// One line for each recording: "label: events".
std::vector<std::string> recordings(Read read, const std::filesystem::path& path,
                                    std::uint64_t count, std::uint64_t all) {
  std::vector<std::string> lines;
  CHECK(read(path, count, [&](const data::Recording& recording) {
          std::string line = fmt::format("{}:", recording.label);
          for (const data::SensorEvent& event : recording.events) line += " " + said(event) + ",";
          lines.push_back(line);
        }) == all);
  return lines;
}

std::string refusal(Read read, const std::filesystem::path& path) {
  return test::refusal([&] { return read(path, 100, [](const data::Recording&) {}); });
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("N-MNIST's recordings come in the order of their files' names") {
    const Folder folder;
    folder.write("7/00002.bin", nmnist_file({{70000, 33, 0, true}, {80000, 0, 33, false}}));
    folder.write("3/00003.bin", nmnist_file({{5, 1, 2}, {0, 0, 240}, {6, 3, 4}, {8388607, 5, 6}}));
    folder.write("9/00001.bin", "");
    folder.write("9/.DS_Store", "no recording");
    CHECK(recordings(data::read_nmnist, folder.path(), 9, 3) ==
          Lines{"9:", "7: 70000 33 0 on, 80000 0 33 off,",
                "3: 5 1 2 on, 8198 3 4 on, 8396799 5 6 on,"});
    CHECK(recordings(data::read_nmnist, folder.path(), 1, 3) == Lines{"9:"});
  }

  TEST_CASE("files of N-MNIST that do not keep to the format are refused") {
    const Folder folder;
    const auto refused = [&] { return refusal(data::read_nmnist, folder.path()); };
    CHECK(holds(refused(), "found no .bin file, allowed the folders 0 to 9"));
    const std::string file = folder.write("7/2.bin", nmnist_file({{1, 2, 3}, {4, 34, 5}}));
    CHECK(holds(refused(), "7/2.bin: byte 5: found an event at x 34 y 5, allowed 0 to 33"));
    CHECK(holds(refusal(data::read_nmnist, file), "2.bin: found no folder, allowed one"));
    folder.write("7/2.bin", "1234567");
    CHECK(
        holds(refused(), "7/2.bin: ends within an event: found 7 bytes, allowed a multiple of 5"));
    folder.write("7/2.txt", "");
    CHECK(holds(refused(), "7/2.txt: found another file, allowed .bin"));
    folder.write("Train/7/2.bin", "");
    std::filesystem::remove_all(folder.path() / "7");
    CHECK(holds(refused(), "found 'Train' in it, allowed the folders 0 to 9"));
  }

  TEST_CASE("polarity events of AEDAT files are read, those that are valid") {
    const Folder folder;
    constexpr std::uint64_t kAnew = std::uint64_t{1} << 31;
    const std::string file = folder.write(
        "a.aedat", aedat_header() +
                       aedat_packet({{10, 1, 2}, {20, 127, 0}, {30, 0, 127, false}}, 1) +
                       aedat_special_packet() + aedat_packet({{kAnew + 5, 3, 4}}));
    const std::vector<data::SensorEvent> events = data::read_aedat(file, 128);
    REQUIRE(events.size() == 3);
    CHECK(said(events[0]) == "20 127 0 on");
    CHECK(said(events[1]) == "30 0 127 off");
    CHECK(said(events[2]) == "2147483653 3 4 on");
  }

  TEST_CASE("AEDAT files that do not keep to the format are refused") {
    const Folder folder;
    const auto refused = [&](const std::string& bytes) {
      const std::string file = folder.write("a.aedat", bytes);
      return refusal(
          [](const std::filesystem::path& path, std::uint64_t, const data::TakeRecording&) {
            return std::uint64_t{data::read_aedat(path, 128).size()};
          },
          file);
    };
    const std::string header = aedat_header();
    const std::string packet = aedat_packet({{10, 1, 2}});
    CHECK(refused(header + packet).empty());
    CHECK(holds(refused(""), "a.aedat: byte 0: is no AEDAT file of version 3.1"));
    CHECK(holds(refused("#!AER-DAT2.0\r\n"), "does not begin with #!AER-DAT3.1"));
    CHECK(
        holds(refused("#!AER-DAT3.1\r\n#Format: RAW\r\n"), "the header ends without #!END-HEADER"));
    CHECK(holds(refused("#!AER-DAT3.1\r\n#Format: PNGFrames\r\n#!END-HEADER\r\n"),
                "found the format 'PNGFrames', allowed RAW"));
    CHECK(holds(refused(header + packet.substr(0, 27)),
                fmt::format("byte {}: ends within a packet's header: found 27 bytes, allowed 28",
                            header.size())));
    CHECK(holds(refused(header + packet.substr(0, packet.size() - 1)),
                "ends within a packet of 2 events of 8 bytes"));
    CHECK(holds(
        refused(header + aedat_packet({{10, 128, 2}})),
        fmt::format("byte {}: found an event at x 128 y 2, allowed 0 to 127", header.size() + 28)));
    std::string many = packet;
    many[20] = 3;
    CHECK(holds(refused(header + many), "found 3 events in a packet, allowed its capacity of 2"));
    std::string wide = packet;
    wide[4] = 4;
    CHECK(holds(refused(header + wide), "found polarity events of 4 bytes"));
    std::string late = packet;
    late[28 + 7] = '\x80';
    CHECK(holds(refused(header + late), "found the time 0x8000000a, allowed up to 0x7fffffff"));
  }

  TEST_CASE("DVS128 Gesture's recordings are the labelled parts of the files that a list names") {
    const Folder folder;
    const std::string heading = "class,startTime_usec,endTime_usec\n";
    const std::string list = folder.write("trials_to_train.txt", "b.aedat\na.aedat\n\n");
    folder.write(
        "b.aedat",
        aedat_header() +
            aedat_packet({{99, 0, 0}, {100, 1, 1}, {199, 2, 2}, {200, 3, 3}, {300, 4, 4}}));
    folder.write("b_labels.csv", heading + "11,100,200\n1,200,301\r\n");
    folder.write("a.aedat", aedat_header() + aedat_packet({{7, 5, 6}}));
    folder.write("a_labels.csv", heading + "2,7,8\n");
    const Lines all{"10: 0 1 1 on, 99 2 2 on,", "0: 0 3 3 on, 100 4 4 on,", "1: 0 5 6 on,"};
    CHECK(recordings(data::read_dvs_gesture, list, 5, 3) == all);
    CHECK(recordings(data::read_dvs_gesture, list, 1, 3) == Lines{all[0]});

    const auto refused = [&](const std::string& name, const std::string& text,
                             const std::string& message) {
      const std::string before = name == "b_labels.csv" ? heading + "1,100,200\n" : "b.aedat\n";
      folder.write(name, text);
      CHECK(holds(refusal(data::read_dvs_gesture, list), message));
      folder.write(name, before);
    };
    refused("b_labels.csv", heading + "12,1,2\n",
            "b_labels.csv:2: class: found 12, expected 1 to 11");
    refused("b_labels.csv", heading + "0,1,2\n", "class: found 0, expected 1 to 11");
    refused("b_labels.csv", heading + "1,5,5\n", "endTime_usec: found 5, expected more than 5");
    refused("b_labels.csv", heading + "1,5\n", "endTime_usec is missing");
    refused("b_labels.csv", "1,100,200\n", "b_labels.csv:1: found no heading, expected class,");
    refused("b_labels.csv", heading + "4,500,600\n",
            "b.aedat: found no event from 500 to 600 us, where its labels have one of class 4");
    refused("trials_to_train.txt", "b.bin\n",
            "trials_to_train.txt:1: found 'b.bin', expected the name of an .aedat file");
    refused("trials_to_train.txt", "c.aedat\n", "c_labels.csv: cannot be read");
  }

  TEST_CASE("Spiking Heidelberg Digits are read") {
    const Folder folder;
    const std::filesystem::path path = folder.path() / "shd_train.h5";
    write_shd(path, {{{0.25F, 0.5F}, {0, 699}}, {{}, {}}, {{1.25F}, {7}}}, {19, 0, 4});
    const Lines all{"19: 250000 0 0 on, 500000 699 0 on,", "0:", "4: 1250000 7 0 on,"};
    CHECK(recordings(data::read_shd, path, 5, 3) == all);
    CHECK(recordings(data::read_shd, path, 1, 3) == Lines{all[0]});
    const std::string zipped = path.string() + ".gz";
    const std::string bytes = data::read_file(path);
    const gzFile out = gzopen(zipped.c_str(), "wb");
    REQUIRE(gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())) > 0);
    REQUIRE(gzclose(out) == Z_OK);
    CHECK(recordings(data::read_shd, zipped, 5, 3) == all);
  }

  TEST_CASE("files of SHD that do not keep to the format are refused") {
    const Folder folder;
    const std::filesystem::path path = folder.path() / "a.h5";
    const auto refused = [&](const std::vector<WrittenSpikes>& recorded,
                             const std::vector<unsigned>& labels, const std::string& without = "") {
      write_shd(path, recorded, labels, without);
      return refusal(data::read_shd, path);
    };
    const std::vector<WrittenSpikes> one{{{0.5F}, {1}}};
    CHECK(refused(one, {1}).empty());
    CHECK(holds(refused(one, {20}), "a.h5: /labels: found 20 for recording 0, expected 0 to 19"));
    CHECK(holds(refused(one, {1}, "labels"), "a.h5: /: found no 'labels'"));
    CHECK(holds(refused(one, {1}, "units"), "a.h5: /spikes: found no 'units'"));
    CHECK(holds(refused(one, {1, 2}),
                "a.h5: /spikes/times: found the shape [1], expected [2], as labels have"));
    CHECK(holds(refused({{{0.5F}, {700}}}, {1}),
                "/spikes/units: found 700 in recording 0, expected 0 to 699"));
    CHECK(holds(refused({{{0.5F, 1}, {1}}}, {1}),
                "/spikes/units: found 1 of recording 0, expected 2, as it has times"));
    CHECK(holds(refused({{{-0.5F}, {1}}}, {1}),
                "/spikes/times: found -0.5 s in recording 0, expected 0 to 1e6"));
    write_shd(path, one, {1});
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 40);
    CHECK(holds(refusal(data::read_shd, path), "a.h5: no HDF5 file, which an SHD file is"));
    CHECK(holds(refusal(data::read_shd, folder.write("b.h5", "HDF")), "b.h5: no HDF5 file"));
  }

  TEST_CASE("an SHD file with a few other bytes is read or refused, and never fatal") {
    const Folder folder;
    const std::filesystem::path path = folder.path() / "a.h5";
    write_shd(path, {{{0.25F, 0.5F}, {0, 699}}, {{1.25F}, {7}}}, {19, 4});
    const std::string bytes = data::read_file(path);
    unsigned refused = 0;
    for (unsigned i = 0; i < 150; ++i) {
      std::string broken = bytes;
      for (unsigned k = 0; k < 3; ++k) {
        const std::uint64_t draw = data::random_bits(7, 1, 3 * i + k);
        broken[draw % bytes.size()] = static_cast<char>(draw >> 48U);
      }
      if (!refusal(data::read_shd, folder.write("b.h5", broken)).empty()) ++refused;
    }
    CHECK(refused > 0);
  }
}
