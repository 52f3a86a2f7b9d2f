// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of scene files of the runner. In builds without the runner (DIFFSIM_PYTHON_SCENES is not defined),
// reading a scene file raises an error.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "loss.hpp"
#include "mesh.hpp"
#include "problem.hpp"
#include "scene.hpp"

#ifdef DIFFSIM_PYTHON_SCENES
#include "app/scene_file.hpp"

namespace diffsim::python {
namespace {

/// Python object that owns a scene file.
class SceneFileHandle final : public Handle {
 public:
  SceneFileHandle(std::shared_ptr<app::SceneFile> file, nb::object comm)
      : comm_(std::move(comm)), file_(std::move(file)) {
    for (const auto& experiment : file_->experiments())
      scenes_.push_back(std::make_shared<SharedScene>(experiment.solver));
  }
  ~SceneFileHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    scenes_.clear();
    file_.reset();
  }
  const std::shared_ptr<app::SceneFile>& shared() const {
    if (!file_) throw_finalised();
    return file_;
  }
  const std::vector<std::shared_ptr<SharedScene>>& scenes() const { return scenes_; }
  const nb::object& comm() const { return comm_; }
  /// Returns the index of the experiment called `name`; an empty name means the first experiment.
  std::size_t index(const std::string& name) const {
    std::string names;
    for (std::size_t i = 0; i < shared()->experiments().size(); ++i) {
      const std::string& known = shared()->experiments()[i].scene.experiment;
      if (name.empty() || known == name) return i;
      names += (names.empty() ? "" : ", ") + known;
    }
    throw InputError("there is no experiment '" + name + "'; the experiments are: " + names);
  }

 private:
  nb::object comm_;
  std::shared_ptr<app::SceneFile> file_;
  std::vector<std::shared_ptr<SharedScene>> scenes_;
};

ProblemHandle* make_problem(const SceneFileHandle& handle, int checkpoint_every) {
  const std::shared_ptr<app::SceneFile> file = handle.shared();
  std::shared_ptr<app::SceneFile::Problem> made;
  {
    const LibraryScope scope;
    for (const std::shared_ptr<SharedScene>& scene : handle.scenes()) scene->change();
    made = std::make_shared<app::SceneFile::Problem>(
        file->make_problem({.schedule = CheckpointSchedule::uniform, .every = checkpoint_every}));
  }
  std::shared_ptr<InverseProblem> problem(made, made->problem.get());
  return new ProblemHandle(std::move(problem), handle.scenes(), {file, made});
}

/// Binds the parts of an experiment.
void bind_experiments(nb::class_<SceneFileHandle>& bound) {
  bound
      .def(
          "num_steps",
          [](const SceneFileHandle& handle, const std::string& experiment) {
            return handle.shared()->experiments()[handle.index(experiment)].scene.solver.steps;
          },
          nb::arg("experiment") = "", "Return the number of steps; -1 if the scene file gives no number.")
      .def(
          "scene",
          [](const SceneFileHandle& handle, const std::string& experiment) {
            return new SceneHandle(handle.scenes().at(handle.index(experiment)));
          },
          nb::arg("experiment") = "", nb::keep_alive<0, 1>(),
          "Return the scene of an experiment; the default is the first experiment.")
      .def(
          "loss",
          [](const SceneFileHandle& handle, const std::string& experiment) {
            const auto& of = handle.shared()->experiments()[handle.index(experiment)];
            if (!of.loss) throw InputError("the scene has no `objective`");
            return new LossHandle(of.loss, {handle.shared()},
                                  {.mesh = handle.shared()->mesh().get(), .scene = of.solver.get()});
          },
          nb::arg("experiment") = "", nb::keep_alive<0, 1>(), "Return the loss of an experiment, without priors.")
      .def("problem", &make_problem, nb::arg("checkpoint_every") = 10, nb::keep_alive<0, 1>(),
           "Return the inverse problem of all experiments, with the scene's parameters and priors. Collective.");
}

}  // namespace

void bind_scene_file(nb::module_& module) {
  nb::class_<SceneFileHandle> bound(module, "SceneFile",
                                    R"(Mesh, scenes and losses that a scene file of the program `diffsim` describes.

Each experiment has a scene and a loss. A file without `experiments` has one experiment, with an empty name.)");
  bound
      .def(
          "__init__",
          [](SceneFileHandle* self, const std::string& path, nb::object comm) {
            const MPI_Comm on = communicator(comm);
            std::shared_ptr<app::SceneFile> file;
            {
              const LibraryScope scope;
              file = std::make_shared<app::SceneFile>(on, path);
            }
            new (self) SceneFileHandle(std::move(file), std::move(comm));
          },
          nb::arg("path"), nb::arg("comm") = nb::none(),
          R"(Read a scene file, and the files that the scene file names. Collective.

The sections checkpoint, optimiser, output and petsc are checked, but have no effect.)",
          nb::sig("def __init__(self, path: str, comm: object | None = None) -> None"))
      .def_prop_ro(
          "mesh",
          [](const SceneFileHandle& handle) {
            auto* mesh = new MeshHandle(handle.shared()->mesh());
            mesh->comm = handle.comm();
            return mesh;
          },
          "Mesh of all bodies.")
      .def_prop_ro(
          "experiments",
          [](const SceneFileHandle& handle) {
            std::vector<std::string> names;
            for (const auto& experiment : handle.shared()->experiments()) names.push_back(experiment.scene.experiment);
            return names;
          },
          "Names of the experiments.")
      .def_prop_ro(
          "warnings", [](const SceneFileHandle& handle) { return handle.shared()->warnings(); },
          "Warnings about parts of the robots' URDF files that have no effect.");
  bind_experiments(bound);
}

}  // namespace diffsim::python

#else

namespace diffsim::python {

void bind_scene_file(nb::module_& module) {
  struct NoSceneFile {};
  nb::class_<NoSceneFile>(module, "SceneFile", "Scene file of the program `diffsim`; not available in this build.")
      .def(
          "__init__",
          [](NoSceneFile*, const std::string&, nb::object) {
            throw InputError(
                "this build of the package does not read scenes of the runner; build it with the library's "
                "sources");
          },
          nb::arg("path"), nb::arg("comm") = nb::none());
}

}  // namespace diffsim::python

#endif
