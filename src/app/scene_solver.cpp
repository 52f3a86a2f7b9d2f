// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>

#include "app/scene_sections.hpp"
#include "dynamics/parameters.hpp"
#include "dynamics/time/explicit_model.hpp"

namespace diffsim::app {
namespace {

void check_damping(const Numbers& damping, int steps) {
  expect_shape(damping, {{}, {steps}}, "a factor in (0, 1], or one for each of solver.steps");
  const Array* array = damping.array();
  if (!array) return;
  for (const double value : array->values)
    if (const std::string fault = range_error(DynamicsParameters::damping, value); !fault.empty())
      damping.place.fail(fault);
}

Numbers parse_gravity(const Value& value, const Scene& scene, int steps) {
  if (value.is_scalar() && to_number(value) == 0.0) return {Array{{3}, {0.0, 0.0, 0.0}}, value.place};
  if (value.is_scalar())
    value.place.fail(format_number(to_number(value)) +
                     " has no direction; give [x, y, z] in m/s², such as [0, -9.8, 0] for weight along -y");
  Numbers gravity = parse_numbers(value, scene);
  expect_shape(gravity, {{3}, {steps, 3}}, "[x, y, z] in m/s², or one [x, y, z] per step");
  return gravity;
}

double to_number_in(const Value& value, double low, double high) {
  const double number = to_number(value);
  if (number < low || number > high)
    value.place.fail(value.text + " is outside [" + format_number(low) + ", " + format_number(high) + "]");
  return number;
}

void parse_newton(const Value& value, NewtonOptions& newton) {
  const Mapping mapping(value, {"tolerance", "linear_tolerance", "max_iterations", "max_stalled", "max_cuts"});
  if (const Value* tolerance = mapping.find("tolerance")) newton.tolerance = to_positive(*tolerance, "");
  if (const Value* linear = mapping.find("linear_tolerance")) newton.linear_tolerance = to_positive(*linear, "");
  if (const Value* most = mapping.find("max_iterations")) newton.max_iterations = to_integer(*most, 1);
  if (const Value* most = mapping.find("max_stalled")) newton.max_stalled = to_integer(*most, 1);
  if (const Value* cuts = mapping.find("max_cuts")) newton.max_cuts = to_integer(*cuts, 0, 30);
}

void parse_linear(const Value& value, LinearOptions& linear) {
  const Mapping mapping(value, {"tolerance", "direct_below", "operator"});
  if (const Value* tolerance = mapping.find("tolerance")) linear.tolerance = to_positive(*tolerance, "");
  if (const Value* most = mapping.find("direct_below")) linear.direct_below = to_integer(*most, 0);
  if (const Value* kind = mapping.find("operator"))
    linear.matrix_free = to_choice(*kind, {"assembled", "matrix_free"}) == "matrix_free";
}

/// Parses keys of implicit integrators, and collects in `solver.unused` the given keys that the chosen integrator does
/// not use.
void parse_implicit(const Mapping& mapping, SolverSection& solver) {
  const Integrator integrator = solver.integrator;
  const bool steps_are_explicit = is_explicit(integrator);
  ImplicitOptions& options = solver.implicit;
  if (const Value* implicit = mapping.find("implicit_differentiation"))
    options.implicit_differentiation = to_boolean(*implicit);
  if (const Value* newton = mapping.find("newton")) parse_newton(*newton, options.newton);
  if (const Value* linear = mapping.find("linear")) parse_linear(*linear, options.linear);
  if (const Value* beta = mapping.find("beta")) options.beta = to_positive(*beta, "");
  if (const Value* gamma = mapping.find("gamma")) options.gamma = to_number_in(*gamma, 0.5, 10.0);
  if (const Value* radius = mapping.find("spectral_radius")) options.spectral_radius = to_number_in(*radius, 0.0, 1.0);
  const Value* ramp = mapping.find("ramp_loads");
  if (ramp ? to_boolean(*ramp) : integrator == Integrator::quasi_static) options.ramp_steps = std::max(solver.steps, 0);
  const auto unused = [&](bool used, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      if (!used && mapping.has(key)) solver.unused.push_back(key);
  };
  unused(steps_are_explicit, {"substeps"});
  unused(has_damping_factor(integrator), {"damping"});
  unused(!steps_are_explicit, {"newton", "linear", "ramp_loads"});
  unused(integrator == Integrator::newmark, {"beta", "gamma"});
  unused(integrator == Integrator::generalised_alpha, {"spectral_radius"});
}

}  // namespace

SolverSection parse_solver(const Value* value, const Scene& scene) {
  const DifferentiableSolver defaults;
  SolverSection solver;
  solver.damping.source = Array{{}, {defaults.damping}};
  solver.gravity.source = Array{{3}, {defaults.gravity.begin(), defaults.gravity.end()}};
  if (!value) return solver;
  const Mapping mapping(
      *value, {"integrator", "dt", "steps", "substeps", "damping", "gravity", "implicit_differentiation", "newton",
               "linear", "beta", "gamma", "spectral_radius", "ramp_loads"});
  if (const Value* integrator = mapping.find("integrator")) {
    std::vector<std::string> names;
    for (const Integrator each : integrators()) names.emplace_back(name_of(each));
    solver.integrator = integrator_named(to_choice(*integrator, names));
  }
  if (const Value* dt = mapping.find("dt")) solver.dt = to_positive(*dt, "s");
  if (const Value* steps = mapping.find("steps")) solver.steps = to_integer(*steps, 0);
  if (const Value* substeps = mapping.find("substeps")) solver.substeps = to_integer(*substeps, 1);
  parse_implicit(mapping, solver);
  if (const Value* damping = mapping.find("damping")) {
    solver.damping_given = true;
    solver.damping = parse_numbers(*damping, scene);
    check_damping(solver.damping, solver.steps);
  }
  if (const Value* gravity = mapping.find("gravity")) {
    solver.gravity_given = true;
    solver.gravity = parse_gravity(*gravity, scene, solver.steps);
  }
  return solver;
}

InitialSection parse_initial(const Value& value, const Scene& scene, const std::string& body, bool affine) {
  std::vector<std::string> keys{"velocity", "displacement"};
  if (affine) keys.emplace_back("angular_velocity");
  if (body.empty()) keys.insert(keys.end(), {"from", "step"});
  const Mapping mapping(value, keys);
  InitialSection initial;
  if (const Value* from = body.empty() ? mapping.find("from") : nullptr) {
    for (const char* other : {"velocity", "displacement"})
      if (const Value* given = mapping.find(other))
        given->place.fail(
            "cannot be combined with `from`, whose frame is the complete initial state; remove one of them");
    initial.from = beside_scene(to_text(*from), scene);
    initial.place = from->place;
  }
  if (const Value* step = body.empty() ? mapping.find("step") : nullptr) {
    if (initial.from.empty()) step->place.fail("needs `from`, the trajectory that has the frame of this step");
    initial.step = to_integer(*step, 0);
  }
  const auto parse = [&](const char* key, std::optional<Numbers>& numbers) {
    const Value* given = mapping.find(key);
    if (!given) return;
    numbers = parse_numbers(*given, scene);
    expect_shape(*numbers, {{3}}, "[x, y, z], or {file:, dataset:} of shape [vertices, 3]");
  };
  parse("velocity", initial.velocity);
  parse("displacement", initial.displacement);
  if (const Value* turn = affine ? mapping.find("angular_velocity") : nullptr)
    initial.angular_velocity = to_vector(*turn);
  return initial;
}

namespace {

/// Parses the windows of multiple shooting.
ShootingOptions parse_shooting(const Value& value, Scene& scene) {
  const Mapping mapping(value, {"windows", "tolerance", "rounds"});
  scene.shooting_place = mapping.place();
  ShootingOptions shooting;
  const Value& windows = mapping.need("windows", "a number from 2 to solver.steps");
  shooting.windows = to_integer(windows, 2);
  if (shooting.windows > scene.solver.steps)
    windows.place.fail(
        fmt::format("{} is above the number of steps; give a number from 2 to {}", windows.text, scene.solver.steps));
  if (const Value* tolerance = mapping.find("tolerance")) shooting.tolerance = to_positive(*tolerance, "");
  if (const Value* rounds = mapping.find("rounds")) shooting.rounds = to_integer(*rounds, 1);
  shooting.duration = scene.solver.dt * scene.solver.steps / shooting.windows;
  return shooting;
}

void parse_uncertainty(const Value& value, Scene& scene) {
  if (!value.is_mapping()) {
    if (to_boolean(value)) scene.uncertainty = value.place;
    return;
  }
  const Mapping mapping(value, {"rank", "samples"});
  LowRankSection low_rank;
  low_rank.rank = to_integer(mapping.need("rank", "the number of directions that the observations determine best"), 1);
  if (const Value* samples = mapping.find("samples")) low_rank.samples = to_integer(*samples, 1);
  scene.uncertainty = value.place;
  scene.low_rank = low_rank;
}

}  // namespace

OptimiserOptions parse_optimiser(const Value& value, Scene& scene) {
  const Mapping mapping(value, {"method", "max_iterations", "gradient_tolerance", "learning_rate", "hessian",
                                "uncertainty", "constraint_tolerance", "move_limit", "shooting"});
  OptimiserOptions options;
  if (const Value* method = mapping.find("method")) options.method = to_enum<Optimiser>(*method, optimisers);
  if (const Value* iterations = mapping.find("max_iterations")) options.max_iterations = to_integer(*iterations, 0);
  if (const Value* tolerance = mapping.find("gradient_tolerance")) {
    options.gradient_tolerance = to_number(*tolerance);
    if (options.gradient_tolerance < 0.0)
      tolerance->place.fail(tolerance->text + " is negative; give " + number_from_zero(""));
  }
  if (const Value* rate = mapping.find("learning_rate")) options.learning_rate = to_positive(*rate, "");
  if (const Value* tolerance = mapping.find("constraint_tolerance"))
    options.constraint_tolerance = to_positive(*tolerance, "");
  if (const Value* limit = mapping.find("move_limit")) {
    options.move_limit = to_positive(*limit, "");
    if (options.move_limit > 1.0) limit->place.fail(limit->text + " is above 1; give a number in (0, 1]");
  }
  if (const Value* shooting = mapping.find("shooting")) {
    if (options.method != Optimiser::newton_cg) shooting->place.fail("needs `method: newton_cg`");
    options.shooting = parse_shooting(*shooting, scene);
  }
  if (const Value* hessian = mapping.find("hessian"))
    options.gauss_newton = to_choice(*hessian, {"exact", "gauss_newton"}) == "gauss_newton";
  if (const Value* given = mapping.find("uncertainty")) parse_uncertainty(*given, scene);
  return options;
}

namespace {

/// Parses the name of a CSV table in the output folder.
std::string parse_table(const Value& value) {
  std::string name = to_text(value);
  if (name.find('/') != std::string::npos || !name.ends_with(".csv"))
    value.place.fail("'" + name + "' is not the name of a table in the output folder; give one such as steps.csv");
  return name;
}

}  // namespace

OutputSection parse_output(const Value& value, Integrator integrator) {
  const Mapping mapping(value, {"directory", "every", "fields", "log", "adjoint_log"});
  OutputSection output;
  output.place = mapping.place();
  if (const Value* directory = mapping.find("directory")) {
    output.directory = to_text(*directory);
    output.place = directory->place;
  }
  if (const Value* every = mapping.find("every")) output.every = to_integer(*every, 1);
  if (const Value* log = mapping.find("log")) output.log = parse_table(*log);
  if (const Value* log = mapping.find("adjoint_log")) {
    output.adjoint_log = parse_table(*log);
    if (output.adjoint_log == "history.csv") log->place.fail("is the table that `invert` writes; give another name");
  }
  if (const Value* fields = mapping.find("fields")) {
    output.fields.clear();
    std::vector<std::string> written = state_fields(integrator);
    written.insert(written.end(), {"reactions", "contact_forces"});
    for (const Value* field : to_items(*fields)) {
      const std::string name = to_choice(*field, written);
      bool* const asked = name == "reactions"        ? &output.reactions
                          : name == "contact_forces" ? &output.contact_forces
                                                     : nullptr;
      if (asked ? *asked : std::count(output.fields.begin(), output.fields.end(), name) > 0)
        field->place.fail("'" + name + "' is given twice; remove one");
      if (asked)
        *asked = true;
      else
        output.fields.push_back(name);
    }
    if (output.fields.empty()) fields->place.fail("has no field of the state; give positions, velocities or both");
  }
  return output;
}

namespace {

void add_petsc_options(const Value& value, const std::string& prefix,
                       std::vector<std::pair<std::string, std::string>>& options) {
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const Value& item = value.items[i];
    std::string name = value.keys[i];
    name.erase(0, name.find_first_not_of('-'));
    const bool plain =
        !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name.find_first_of(" \t\n=") == std::string::npos;
    if (!plain)
      item.place.fail("'" + value.keys[i] + "' is not the name of a PETSc option; give one, such as tao_view");
    const std::string option = (prefix.empty() ? "-" : prefix + "_") + name;
    if (item.is_mapping()) {
      add_petsc_options(item, option, options);
    } else if (item.is_list()) {
      std::vector<std::string> words;
      for (const Value& word : item.items) words.push_back(to_text(word));
      if (words.empty()) item.place.fail("is an empty list; give values");
      std::string list = words[0];
      for (std::size_t w = 1; w < words.size(); ++w) list += "," + words[w];
      options.emplace_back(option, list);
    } else {
      options.emplace_back(option, item.text);
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_petsc(const Value& value) {
  if (!value.is_mapping()) value.place.fail("give a mapping of options, such as {tao_blmvm_mat_lmvm_hist_size: 10}");
  std::vector<std::pair<std::string, std::string>> options;
  add_petsc_options(value, "", options);
  return options;
}

}  // namespace diffsim::app
