// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/parameter_table.hpp"
#include "app/yaml_value.hpp"
#include "diffsim/core/config.hpp"

namespace diffsim::app {
namespace {

std::string fault_of_seconds(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && std::isfinite(seconds) && seconds > 0.0) return "";
  return "'" + text + "' is not a time; give a number of seconds above 0";
}

constexpr const char* footer =
    "PETSc options may follow `--`; options that begin with --kokkos- are passed to Kokkos. Run alone or under "
    "mpirun.\n"
    "Exit codes: 0 done; 1 ran but failed, was stopped, did not converge or did not pass; 2 bad input; 3 stopped at a "
    "checkpoint.";

struct CommandHelp {
  const char* name;
  const char* does;
};
constexpr CommandHelp commands[] = {
    {"simulate", "forward run: trajectory.h5, trajectory.xdmf, report.json"},
    {"tangent", "derivative of the motion along a direction of the parameters: tangent.h5, tangent.xdmf, report.json"},
    {"gradient", "the loss and its gradient: gradient.h5, report.json"},
    {"check", "Taylor and dot-product tests of that gradient: report.json"},
    {"invert", "minimise the loss over the parameters: parameters.h5, history.csv, report.json"},
    {"mesh", "read, partition and report the mesh: report.json"},
};

/// Adds the options that only some of the commands have.
void add_options(CLI::App* sub, const std::string& name, CommandLine& line) {
  if (name == "simulate") {
    sub->add_flag("--resume", line.resume,
                  "Continue from the last frame of trajectory.h5, if an earlier run was stopped");
    sub->add_option("--time-limit", line.time_limit,
                    "Stop after this many seconds, with the completed steps in trajectory.h5 and exit code 1")
        ->type_name("SECONDS")
        ->check(fault_of_seconds);
  }
  if (name == "gradient" || name == "invert") {
    sub->add_option(
           "--groups", line.groups,
           "Divide the processes into this many groups, which run the scene's experiments, or for `invert` the "
           "windows of optimiser.shooting, at the same time")
        ->type_name("NUMBER")
        ->check(CLI::Range(1, 1 << 20));
    sub->add_flag("--resume", line.resume, "Continue from the checkpoint in checkpoint.directory, if there is one");
    sub->add_option("--time-limit", line.time_limit, "Stop at a checkpoint after this many seconds, with exit code 3")
        ->type_name("SECONDS")
        ->check(fault_of_seconds);
  }
  if (name == "check") {
    sub->add_flag("--hessian", line.hessian,
                  "Also test products with the Hessian: hessian_symmetry, "
                  "hessian_taylor_orders");
    sub->add_flag("--products", line.products, "Only dot-product tests, without finite differences of the loss");
  }
  if (name == "mesh")
    sub->add_option("--convert", line.convert,
                    "Also write the mesh as an HDF5 file, which can be read in parallel; in a scene with bodies, one "
                    "file per body: FILE.h5 becomes FILE-BODY.h5")
        ->type_name("FILE");
}

void parse(CommandLine& line, std::vector<std::string> arguments) {
  CLI::App app("Differentiable mechanics: simulate a deforming body, get exact gradients, recover parameters.",
               "diffsim");
  app.set_version_flag("--version", "diffsim " DIFFSIM_VERSION);
  app.add_flag_callback(
      "--parameters",
      [&line] {
        line.text = parameter_table();
        throw CLI::Success();
      },
      "List the parameters that gradients and inversions can use, with units and ranges");
  app.require_subcommand(1);
  app.footer(footer);
  for (const CommandHelp& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.does);
    sub->footer(footer);
    sub->add_option("scene", line.scene, "The scene, a YAML file")->required();
    sub->add_option("--output", line.output, "Folder for output files, instead of the scene's output.directory")
        ->type_name("DIR");
    add_options(sub, command.name, line);
  }
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
    line.command = app.get_subcommands().front()->get_name();
  } catch (const CLI::CallForHelp&) {
    const auto given = app.get_subcommands();
    line.text = given.empty() ? app.help() : given.front()->help("diffsim");
  } catch (const CLI::CallForVersion&) {
    line.text = std::string("diffsim ") + DIFFSIM_VERSION + "\n";
  } catch (const CLI::Success&) {
    // The option's callback has already set line.text.
  } catch (const CLI::ParseError& error) {
    line.error = error.what();
  }
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  std::vector<std::string> own;
  bool after = false;
  for (const std::string& argument : arguments) {
    if (after)
      line.petsc.push_back(argument);
    else if (argument == "--")
      after = true;
    else if (argument.starts_with("--kokkos-"))
      line.kokkos.push_back(argument);
    else
      own.push_back(argument);
  }
  parse(line, own);
  if (!line.error.empty()) {
    std::vector<std::string> names;
    for (const CommandHelp& command : commands) names.emplace_back(command.name);
    const auto word = std::find_if(own.begin(), own.end(), [](const auto& text) { return !text.starts_with('-'); });
    if (own.empty())
      line.error = "no command is given";
    else if (word != own.end() && std::find(names.begin(), names.end(), *word) == names.end()) {
      const std::string near = nearest(*word, names);
      line.error = "there is no command '" + *word + "'; " + (near.empty() ? "" : "did you mean " + near + "? ") +
                   "commands: " + join(names);
    }
  } else if (!line.petsc.empty() && !line.petsc.front().starts_with('-')) {
    line.error = "'" + line.petsc.front() + "' after -- is not a PETSc option; options begin with -";
  }
  if (!line.error.empty()) line.command.clear();
  return line;
}

}  // namespace diffsim::app
