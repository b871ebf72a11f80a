#include "tests/sim/data/recordings_writer.h"

#include <hdf5.h>

namespace tessera::test {

namespace {

std::string little_endian(std::uint32_t number, unsigned bytes = 4) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

std::string packet_header(unsigned type, unsigned capacity, unsigned number, unsigned overflow) {
  return little_endian(type, 2) + little_endian(1, 2) + little_endian(8) + little_endian(4) +
         little_endian(overflow) + little_endian(capacity) + little_endian(number) +
         little_endian(number);
}

/// f16 as h5py defines it.
hid_t half_type() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

void write_rows(hid_t group, const char* name, hid_t stored, hid_t given, std::vector<hvl_t> rows) {
  const hsize_t extent = rows.size();
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t stored_row = H5Tvlen_create(stored);
  const hid_t given_row = H5Tvlen_create(given);
  const hid_t set =
      H5Dcreate2(group, name, stored_row, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, given_row, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data());
  H5Dclose(set);
  H5Tclose(given_row);
  H5Tclose(stored_row);
  H5Sclose(space);
}

/// Writes the dataset compressed, in one chunk.
void write_labels(hid_t file, const std::vector<unsigned>& labels) {
  const hsize_t extent = labels.size();
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &extent);
  H5Pset_deflate(creation, 6);
  const hid_t set =
      H5Dcreate2(file, "labels", H5T_STD_U16LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_UINT, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels.data());
  H5Dclose(set);
  H5Pclose(creation);
  H5Sclose(space);
}

}  // namespace

std::string nmnist_file(const std::vector<WrittenEvent>& events) {
  std::string bytes;
  for (const WrittenEvent& event : events) {
    bytes += static_cast<char>(event.x);
    bytes += static_cast<char>(event.y);
    bytes += static_cast<char>((event.on ? 0x80U : 0U) | event.microseconds >> 16U);
    bytes += static_cast<char>(event.microseconds >> 8U);
    bytes += static_cast<char>(event.microseconds);
  }
  return bytes;
}

std::string aedat_header() {
  return "#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: DVS128\r\n#Start-Time: 2016-03-08 "
         "11:10:02 (TZ-0500)\r\n#!END-HEADER\r\n";
}

std::string aedat_packet(const std::vector<WrittenEvent>& events, unsigned invalid) {
  const auto number = static_cast<unsigned>(events.size());
  const auto overflow = static_cast<unsigned>(events.front().microseconds >> 31U);
  std::string bytes = packet_header(1, number + 1, number, overflow);
  for (unsigned i = 0; i < number; ++i) {
    const WrittenEvent& event = events[i];
    bytes += little_endian((i < invalid ? 0U : 1U) | (event.on ? 2U : 0U) | event.y << 2U |
                           event.x << 17U);
    bytes += little_endian(static_cast<unsigned>(event.microseconds & 0x7fffffffU));
  }
  return bytes + std::string(8, '\0');
}

std::string aedat_special_packet() {
  return packet_header(0, 1, 1, 0) + little_endian(0xffffffff) + little_endian(7);
}

void write_shd(const std::filesystem::path& path, const std::vector<WrittenSpikes>& recordings,
               const std::vector<unsigned>& labels, const std::string& without) {
  std::vector<hvl_t> times;
  std::vector<hvl_t> units;
  for (const WrittenSpikes& recording : recordings) {
    times.push_back({recording.seconds.size(), const_cast<float*>(recording.seconds.data())});
    units.push_back({recording.units.size(), const_cast<std::uint16_t*>(recording.units.data())});
  }
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t spikes = H5Gcreate2(file, "spikes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t half = half_type();
  if (without != "times") write_rows(spikes, "times", half, H5T_NATIVE_FLOAT, times);
  if (without != "units") write_rows(spikes, "units", H5T_STD_U16LE, H5T_NATIVE_USHORT, units);
  if (without != "labels") write_labels(file, labels);
  H5Tclose(half);
  H5Gclose(spikes);
  H5Fclose(file);
}

}  // namespace tessera::test
