#include "sim/command/exec.h"

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/progress.h"
#include "sim/config/reader.h"
#include "sim/elf/double_arithmetic.h"
#include "sim/elf/listing.h"
#include "sim/engine/bare_program.h"

namespace tessera::command {

namespace {

/// Parses like a config; the default suits a short program.
std::uint64_t max_cycles_of(const std::string& text) {
  const std::string option = "--max-cycles " + text;
  RunConfig run;
  run.max_cycles = 10'000'000'000;
  config::Layers layers(config::Json::object(), option);
  if (!text.empty()) layers.set("max_cycles", config::parse_value(text, option), option);
  config::Reader(layers, layers.value(), "").read(run);
  return run.max_cycles;
}

struct DisasmRequest {
  std::string file;
  std::string symbol;  ///< empty: all executable code
};

/// Prints the tile code of an ELF file: address, word and assembly text, with a label per symbol.
ExitCode disasm(const DisasmRequest& request) {
  elf::list(std::cout, elf::read_file(request.file), request.symbol);
  std::cout.flush();
  return ExitCode::done;
}

}  // namespace

engine::ExecResult execute(const elf::Program& program, const ExecRequest& request, bool profile,
                           const Simulator& simulator) {
  const MachineConfig machine = config::load_machine(request.machine_name(), simulator.machines);
  engine::ExecOptions options;
  options.slot_limit = max_cycles_of(request.max_cycles) / machine.tile.contexts;
  options.write = [](int descriptor, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), descriptor == 1 ? stdout : stderr);
  };
  options.profile = profile;
  elf::refuse_double_arithmetic(program);
  engine::ExecResult result = engine::execute_bare(program, machine.tile, options);
  std::fflush(stdout);
  return result;
}

ExitCode exec(const ExecRequest& request, const Simulator& simulator) {
  const elf::Program program = elf::read_file(request.file);
  const engine::ExecResult result = execute(program, request, false, simulator);
  tell(fmt::format("{}: the program's own exit code {}, {}, {}, {}\n", request.file,
                   result.exit_code, counted(result.cycles, "cycle"), counted(result.slots, "slot"),
                   counted(result.instructions, "instruction")));
  return static_cast<ExitCode>(result.exit_code & 0xff);
}

Command exec_command(const Simulator& simulator) {
  const auto request = std::make_shared<ExecRequest>();
  return {"exec",
          "run a bare RV32 program on one tile",
          {{"ELF", &request->file,
            "an ELF program, for example from riscv64-unknown-elf-gcc -march=rv32imf -mabi=ilp32f "
            "-O2 -nostdlib -e main; it ends by ecall with a7 = 93 or by returning, and its exit "
            "code becomes the command's",
            kRequired},
           choosing({"--machine", &request->machine, "a machine preset or file (default: bow)"},
                    [&simulator] { return names_of(simulator.machines); }),
           {"--max-cycles", &request->max_cycles, "limit on simulated cycles (default: 10^10)"}},
          [request, &simulator] { return exec(*request, simulator); }};
}

Command disasm_command() {
  const auto request = std::make_shared<DisasmRequest>();
  return {"disasm",
          "print the tile code of an ELF file",
          {{"FILE", &request->file, "an ELF file", kRequired},
           {"--symbol", &request->symbol, "disassemble only this function"}},
          [request] { return disasm(*request); }};
}

}  // namespace tessera::command
