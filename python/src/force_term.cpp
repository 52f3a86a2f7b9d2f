// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of force terms whose functions are Python functions, and the function of scenes that adds such a term.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/simulation/scene.hpp"
#include "loss.hpp"
#include "scene.hpp"

namespace diffsim::python {
namespace {

using Numbers = std::vector<double>;
using Shape = std::vector<std::size_t>;

/// Constants of the groups: a name, and an array with one row per group.
struct Constants {
  std::string name;
  ArrayOf<double> rows;
};

/// Python object of a force term.
struct ForceTermObject {
  std::vector<std::int64_t> vertices;  // numbers in the mesh, [groups, k]
  std::size_t k = 0;
  nb::object force, jacobians, energy, pullback_tangent;  // `energy` and `pullback_tangent` may be None
  std::vector<std::string> parameters;
  std::vector<Constants> constants;
  bool uses_velocities = false;
  std::string name;
};

/// Force on groups of vertices that calls Python functions on all ranks together. A rank without groups calls no
/// functions.
class PythonGroupForce final : public GroupForce {
 public:
  /// `shapes`: shapes of the parameters' arrays.
  PythonGroupForce(ForceTermObject of, MPI_Comm comm, std::vector<Shape> shapes)
      : of_(std::move(of)), comm_(comm), shapes_(std::move(shapes)) {}
  ~PythonGroupForce() override {
    const nb::gil_scoped_acquire with_gil;
    of_ = {};
  }

  /// Keeps only the constants of the groups that this rank processes.
  void keep(const std::vector<std::size_t>& groups) {
    for (Constants& each : of_.constants) {
      const std::size_t size = each.rows.values.size() / each.rows.shape[0];
      Numbers rows;
      for (const std::size_t e : groups)
        for (std::size_t i = e * size; i < (e + 1) * size; ++i) rows.push_back(each.rows.values[i]);
      each.rows.values = std::move(rows);
      each.rows.shape[0] = groups.size();
    }
  }

  std::string name() const override { return of_.name; }
  bool uses_velocities() const override { return of_.uses_velocities; }
  bool has_energy() const override { return !of_.energy.is_none(); }
  bool has_second_derivatives() const override { return !of_.pullback_tangent.is_none(); }
  std::vector<std::string> parameters() const override { return of_.parameters; }

  Numbers force(const GroupValues& at) override {
    Numbers result;
    call_on_all_ranks(comm_, [&] {
      check_signals();
      if (at.x.empty()) return;
      const Arrays a = arrays_with_constants(at);
      result = doubles_of_shape(of_.force(a.x, a.v, a.p), shape_of(at), "result of `force`");
    });
    return result;
  }
  double energy(const GroupValues& at) override {
    double result = 0.0;
    call_on_all_ranks(comm_, [&] {
      if (at.x.empty()) return;
      const Arrays a = arrays_with_constants(at);
      result = doubles_of_shape(of_.energy(a.x, a.p), {1}, "result of `energy`")[0];
    });
    return result;
  }
  Jacobians jacobians(const GroupValues& at) override {
    Jacobians by;
    call_on_all_ranks(comm_, [&] {
      if (at.x.empty()) {
        by.by_parameters.resize(shapes_.size());
        return;
      }
      const Arrays a = arrays_with_constants(at);
      const nb::object result = of_.jacobians(a.x, a.v, a.p);
      if (!nb::isinstance<nb::dict>(result)) throw InputError("`jacobians` must return a dict of arrays");
      const nb::dict found = nb::borrow<nb::dict>(result);
      const auto read = [&](const char* key, std::size_t width) {
        if (!found.contains(key)) throw InputError(std::string("`jacobians` returns no '") + key + "'");
        const ArrayOf<double> array = doubles(found[key], std::string("'") + key + "' of `jacobians`");
        const Numbers& values = array.values;
        const std::size_t rows = array.shape.size() > 1 ? array.shape[1] : 0;
        if (rows != 3 * of_.k && (rows != of_.k || array.shape.size() < 3 || array.shape[2] != 3))
          throw InputError(std::string("'") + key + "' of `jacobians` must have the shape [groups, 3 k, …]");
        if (values.size() != at.x.size() * width)
          throw InputError(std::string("'") + key + "' of `jacobians` has " + std::to_string(values.size()) +
                           " entries; give " + std::to_string(at.x.size() * width));
        return values;
      };
      by.by_positions = read("positions", 3 * of_.k);
      if (of_.uses_velocities) by.by_velocities = read("velocities", 3 * of_.k);
      for (std::size_t m = 0; m < shapes_.size(); ++m)
        by.by_parameters.push_back(read(of_.parameters[m].c_str(), size_of(m)));
    });
    return by;
  }
  GroupValues pullback_tangent(const GroupValues& at, const GroupValues& change, const Numbers& w,
                               const Numbers& dw) override {
    GroupValues made;
    call_on_all_ranks(comm_, [&] {
      if (at.x.empty()) {
        for (std::size_t m = 0; m < shapes_.size(); ++m) made.p.emplace_back(size_of(m), 0.0);
        return;
      }
      const Arrays a = arrays_with_constants(at), d = arrays(change);
      const Shape shape = shape_of(at);
      const nb::object result =
          of_.pullback_tangent(a.x, a.v, a.p, d.x, d.v, d.p, to_numpy(w, shape), to_numpy(dw, shape));
      if (!nb::isinstance<nb::tuple>(result) || nb::len(result) != 3)
        throw InputError("`pullback_tangent` must return (array, array or None, {parameter: array, …})");
      made.x = doubles_of_shape(result[0], shape, "result of `pullback_tangent`");
      if (of_.uses_velocities) made.v = doubles_of_shape(result[1], shape, "result of `pullback_tangent`");
      const nb::dict by_parameters = nb::borrow<nb::dict>(result[2]);
      for (std::size_t m = 0; m < shapes_.size(); ++m)
        made.p.push_back(
            doubles_of_shape(by_parameters[of_.parameters[m].c_str()], shapes_[m], "result of `pullback_tangent`"));
    });
    return made;
  }

 private:
  struct Arrays {
    nb::object x, v;
    nb::dict p;
  };
  Arrays arrays(const GroupValues& values) const {
    const Shape shape = shape_of(values);
    Arrays made{to_numpy(values.x, shape), nb::none(), {}};
    if (of_.uses_velocities) made.v = to_numpy(values.v, shape);
    for (std::size_t m = 0; m < shapes_.size(); ++m)
      made.p[of_.parameters[m].c_str()] = to_numpy(values.p[m], shapes_[m]);
    return made;
  }
  Arrays arrays_with_constants(const GroupValues& values) const {
    Arrays made = arrays(values);
    for (const Constants& each : of_.constants) made.p[each.name.c_str()] = to_numpy(each.rows.values, each.rows.shape);
    return made;
  }
  /// Returns the shape [groups, k, 3] of the positions.
  Shape shape_of(const GroupValues& values) const { return {values.x.size() / (3 * of_.k), of_.k, 3}; }
  std::size_t size_of(std::size_t m) const { return shapes_[m].empty() ? 1 : shapes_[m].front(); }

  ForceTermObject of_;
  MPI_Comm comm_;
  std::vector<Shape> shapes_;
};

nb::object add_force_term(SceneHandle& handle, const ForceTermObject& object) {
  ForceTermObject copy = object;  // copies Python objects, with the GIL
  std::vector<std::int64_t> groups;
  {
    const LibraryScope scope;
    require_same_on_all_ranks(handle.shared()->get().mesh()->comm(), "parameters and name of the force term",
                              object.parameters, object.name);
    DifferentiableScene& scene = handle.shared()->change();
    std::vector<Shape> shapes;
    for (const std::string& name : object.parameters) {
      const Parameter& parameter = scene.parameters().at(name);
      if (!parameter.is_global() || parameter.steps() > 1)
        throw InputError("'" + name +
                         "' does not have one value for the whole model; add a parameter by add_parameter");
      shapes.push_back(parameter.field.size() == 1 ? Shape{} : Shape{parameter.field.size()});
    }
    auto force = std::make_unique<PythonGroupForce>(std::move(copy), scene.mesh()->comm(), std::move(shapes));
    PythonGroupForce& added = *force;
    const std::vector<std::size_t> of_rank =
        scene.add_force(std::move(force), object.vertices, static_cast<int>(object.k));
    added.keep(of_rank);
    handle.shared()->record().refuse("the force term '" + object.name + "'");
    for (const std::size_t e : of_rank) groups.push_back(static_cast<std::int64_t>(e));
  }
  const std::size_t count = groups.size();
  return to_numpy(std::move(groups), {count});
}

std::vector<Constants> constants_of(const nb::object& data, std::size_t num_groups,
                                    const std::vector<std::string>& parameters) {
  std::vector<Constants> made;
  if (data.is_none()) return made;
  if (!nb::isinstance<nb::dict>(data)) throw InputError("data of a force term must be a dict of arrays or None");
  for (const auto [key, value] : nb::borrow<nb::dict>(data)) {
    Constants each{nb::cast<std::string>(key), {}};
    each.rows = doubles(value, "'" + each.name + "' of data");
    if (each.rows.shape.empty() || each.rows.shape[0] != num_groups)
      throw InputError("'" + each.name + "' of data must have one row for each of the " + std::to_string(num_groups) +
                       " groups");
    if (std::count(parameters.begin(), parameters.end(), each.name) > 0)
      throw InputError("'" + each.name + "' is a parameter and an entry of data; rename the entry of data");
    made.push_back(std::move(each));
  }
  return made;
}

void bind_class_of_force_terms(nb::module_& module) {
  nb::class_<ForceTermObject>(module, "ForceTerm", "Forces f(x, v, p) on groups of vertices, for scenes.")
      .def(
          "__init__",
          [](ForceTermObject* self, nb::handle vertices, nb::object force, nb::object jacobians, nb::object energy,
             nb::object pullback_tangent, std::vector<std::string> parameters, bool uses_velocities, std::string name,
             const nb::object& data) {
            ArrayOf<std::int64_t> groups = integers(vertices, "vertices");
            if (groups.shape.size() == 1) groups.shape.push_back(1);
            if (groups.shape.size() != 2 || groups.values.empty())
              throw InputError("vertices must have the shape [groups] or [groups, vertices of a group]");
            if (!PyCallable_Check(force.ptr()) || !PyCallable_Check(jacobians.ptr()))
              throw InputError("force and jacobians of a force term must be functions");
            for (const nb::object& function : {energy, pullback_tangent})
              if (!function.is_none() && !PyCallable_Check(function.ptr()))
                throw InputError("energy and pullback_tangent of a force term must be functions or None");
            for (const std::string& parameter : parameters)
              if (parameter == "positions" || parameter == "velocities" ||
                  std::count(parameters.begin(), parameters.end(), parameter) > 1)
                throw InputError("'" + parameter + "' cannot be a parameter of a force term, or occurs twice");
            if (uses_velocities && !energy.is_none())
              throw InputError("forces that depend on velocities have no energy; remove `energy`");
            std::vector<Constants> constants = constants_of(data, groups.shape[0], parameters);
            new (self) ForceTermObject{std::move(groups.values), groups.shape[1],      std::move(force),
                                       std::move(jacobians),     std::move(energy),    std::move(pullback_tangent),
                                       std::move(parameters),    std::move(constants), uses_velocities,
                                       std::move(name)};
          },
          nb::arg("vertices"), nb::arg("force"), nb::arg("jacobians"), nb::arg("energy") = nb::none(),
          nb::arg("pullback_tangent") = nb::none(), nb::arg("parameters") = std::vector<std::string>{},
          nb::arg("uses_velocities") = false, nb::arg("name") = "python", nb::arg("data") = nb::none(),
          R"(Create a force term from Python functions of numpy arrays.

vertices: numbers in the mesh of the vertices of each group, [groups, k], the same on all ranks; the force on the vertices
of a group depends on the vertices of this group. On several ranks, a function receives the groups of its rank, and the
vertices of a group must have a common cell.
parameters: names of parameters with one value for the whole model (add_parameter), which the functions receive as a dict
p of arrays. The functions are called for all groups of a rank at once, with positions x and velocities v, [groups, k, 3];
v is None unless uses_velocities. Each function is called several times per step, so a force term in C++ is many times
faster (docs/tutorial/3_own_force.md).
data: a dict of arrays of constants with one row per group, [groups, …], for example rest lengths, the same on all ranks.
The dict p that the functions receive also contains these arrays, with the rows of the groups of the rank. Changes dp and
derivatives have no entries for constants.

force(x, v, p) returns the forces, [groups, k, 3], N. jacobians(x, v, p) returns a dict with the Jacobians of the forces
by "positions", [groups, 3 k, 3 k], by "velocities" (if uses_velocities), and by each parameter, [groups, 3 k, size].
energy(x, p) returns the sum of the energies of all groups, J, if the forces are the negative gradient of an energy;
implicit steps then minimise the energy. pullback_tangent(x, v, p, dx, dv, dp, w, dw) returns the derivatives of
(∂f/∂x)ᵀ w, (∂f/∂v)ᵀ w (or None) and a dict of (∂f/∂p)ᵀ w along dx, dv, dp and dw; Hessian products need
pullback_tangent. The functions force_term and energy_term of diffsim.jax and diffsim.torch make all these functions from
one function.)")
      .def_ro("parameters", &ForceTermObject::parameters, "Names of the parameters that the functions receive.")
      .def_ro("name", &ForceTermObject::name, "Name of the force in messages.");
}

}  // namespace

void bind_force_term(nb::module_& module, nb::class_<SceneHandle>& scene) {
  bind_class_of_force_terms(module);
  scene.def("add_force_term", &add_force_term, nb::arg("term"),
            R"(Add forces that Python functions compute, as a part of the equation of motion.

Explicit and implicit steps include the forces with their derivatives. Call this function before a simulator or a problem
uses the scene, and after the parameters of the term have been added. Returns the indices of the groups for which this
rank calls the functions.)",
            nb::sig("def add_force_term(self, term: ForceTerm) -> numpy.ndarray"));
}

}  // namespace diffsim::python
