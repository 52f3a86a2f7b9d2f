// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of scene files of the runner. In builds without the runner (DIFFSIM_PYTHON_SCENES is not defined),
// reading a scene file raises an error.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "checkpoints.hpp"
#include "diffsim/core/error.hpp"
#include "loss.hpp"
#include "mesh.hpp"
#include "problem.hpp"
#include "scene.hpp"
#include "scene_document.hpp"
#include "shared_objects.hpp"

#ifdef DIFFSIM_PYTHON_SCENES
#include "app/found_values.hpp"
#include "app/scene_document.hpp"
#include "app/scene_file.hpp"
#include "app/scene_record.hpp"

namespace diffsim::python {
namespace {

/// Python object that owns a scene file.
class SceneFileHandle final : public Handle {
 public:
  SceneFileHandle(std::shared_ptr<app::SceneFile> file, nb::object comm)
      : comm_(std::move(comm)), file_(std::move(file)) {
    for (const auto& experiment : file_->experiments()) {
      auto record = std::make_shared<app::SceneRecord>(
          mesh_record_, app::document_of_experiment(file_->document(), experiment.scene.experiment), folder());
      // The scene and the mesh share the file, which all ranks destroy together.
      scenes_.push_back(std::make_shared<SharedScene>(
          std::shared_ptr<DifferentiableScene>(file_, experiment.solver.get()), SceneRecord(std::move(record))));
      scenes_.back()->set_mesh(std::shared_ptr<TetrahedralMesh>(file_, file_->mesh().get()));
      if (experiment.scene.contact) scenes_.back()->set_contact(experiment.scene.contact->options);
    }
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
  /// Returns the scene document, which Python programs may change.
  nb::dict document() {
    if (!document_.is_valid()) document_ = document_to_python(shared()->document());
    return nb::borrow<nb::dict>(document_);
  }
  /// Returns the folder to which paths in the document are relative; empty for the current directory.
  std::string folder() const {
    return std::filesystem::path(shared()->experiments().front().scene.file).parent_path().string();
  }
  /// Record of the regions that a program defines in addition to those of the scene file.
  const MeshRecord& mesh_record() const { return mesh_record_; }
  void remember(const std::shared_ptr<app::SceneFile::Problem>& problem) { problems_.push_back(problem); }
  /// Throws InputError unless `problem` is an inverse problem of this scene file.
  void require_own(const InverseProblem& problem) const {
    for (const std::weak_ptr<app::SceneFile::Problem>& made : problems_)
      if (const auto one = made.lock(); one && one->problem.get() == &problem) return;
    throw InputError("the problem is not one that problem() of this scene file returned");
  }
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
  MeshRecord mesh_record_ = std::make_shared<app::MeshRecord>();
  std::vector<std::shared_ptr<SharedScene>> scenes_;
  std::vector<std::weak_ptr<app::SceneFile::Problem>> problems_;
  nb::object document_;  // without a value until used
};

/// Reads or creates a scene file in a LibraryScope.
template <class... Arguments>
std::shared_ptr<app::SceneFile> make_file(nb::handle comm, Arguments&&... arguments) {
  const MPI_Comm on = communicator(comm);
  const LibraryScope scope;
  return share_on_all_ranks(on, std::make_shared<app::SceneFile>(on, std::forward<Arguments>(arguments)...));
}

ProblemHandle* make_problem(SceneFileHandle& handle, int checkpoint_every,
                            const std::optional<CheckpointOptions>& checkpoints) {
  const std::shared_ptr<app::SceneFile> file = handle.shared();
  std::shared_ptr<app::SceneFile::Problem> made;
  {
    const LibraryScope scope;
    for (const std::shared_ptr<SharedScene>& scene : handle.scenes()) scene->change();
    const MPI_Comm comm = file->mesh()->comm();
    require_same_on_all_ranks(comm, "checkpoint_every", checkpoint_every);
    made = share_on_all_ranks(comm, std::make_shared<app::SceneFile::Problem>(file->make_problem(
                                        checkpoints.value_or(uniform_checkpoints(checkpoint_every)))));
  }
  handle.remember(made);
  std::shared_ptr<InverseProblem> problem(made, made->problem.get());
  std::vector<InverseProblem*> experiments;
  for (const std::unique_ptr<InverseProblem>& one : made->further) experiments.push_back(one.get());
  return new ProblemHandle(std::move(problem), handle.scenes(), {file, made}, std::move(experiments));
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
      .def("problem", &make_problem, nb::arg("checkpoint_every") = 10, nb::arg("checkpoints") = nb::none(),
           nb::keep_alive<0, 1>(),
           R"(Return the inverse problem of all experiments, with the scene's parameters and priors. Collective.

checkpoint_every: number of steps between checkpoints in memory. checkpoints: replaces checkpoint_every.)");
}

/// Stores the values of unknowns at u in the scene document.
void set_found(SceneFileHandle& handle, const ProblemHandle& problem, nb::handle u, const std::string& path) {
  handle.require_own(problem.get());
  const std::vector<double> at =
      read_on_all_ranks(problem.get().comm(), [&] { return doubles_of_shape(u, {problem.get().size()}, "u"); });
  nb::dict document = handle.document();
  const nb::str key("parameters"), initial("initial");
  nb::list entries;
  if (document.contains(key)) {
    const nb::object given = document[key];
    if (nb::isinstance<nb::list>(given))
      entries = nb::borrow<nb::list>(given);
    else
      entries.append(given);
  }
  std::vector<app::Value> found;
  {
    const LibraryScope scope;
    const app::SceneFile& file = *handle.shared();
    found = app::found_values(file.experiments().front().scene, *file.mesh(), problem.get(), at, path, handle.folder());
  }
  bool matches = nb::len(entries) == found.size();
  for (const nb::handle entry : entries) matches = matches && nb::isinstance<nb::dict>(entry);
  if (!matches)
    throw InputError("the key `parameters` of the document has been changed; its entries must be those of the problem");
  for (std::size_t k = 0; k < found.size(); ++k) {
    nb::dict entry = nb::borrow<nb::dict>(nb::object(entries[k]));
    entry[initial] = document_to_python(found[k]);
  }
}

/// Binds the scene document: access, creation from a dict, and output.
void bind_document(nb::class_<SceneFileHandle>& bound) {
  bound
      .def_static(
          "from_dict",
          [](nb::handle document, const std::string& folder, nb::object comm) {
            const std::string path = (std::filesystem::path(folder) / "document").string();
            app::Value value = read_on_all_ranks(communicator(comm), [&] { return document_of(document, path); });
            std::shared_ptr<app::SceneFile> file = make_file(comm, std::move(value), path);
            return new SceneFileHandle(std::move(file), std::move(comm));
          },
          nb::arg("document"), nb::arg("folder") = "", nb::arg("comm") = nb::none(),
          R"(Create the objects of a scene that a dict describes, with the keys of a scene file. Collective.

document: the same on all ranks; values may be dicts, lists, numpy arrays, str, paths, numbers, bools and None. folder:
folder to which paths in the document are relative; empty for the current directory. Raises an InputError, which names
the key, if the scene or a file is not valid.)",
          nb::sig("def from_dict(document: dict, folder: str = '', comm: object | None = None) -> SceneFile"))
      .def_prop_ro("document", &SceneFileHandle::document,
                   R"(Scene as nested dicts and lists, the same object on each access.

Changes affect `save`, but no object of this scene file. SceneFile.from_dict(file.document, file.folder) creates the
objects of a changed scene. Comments of the file are lost, and aliases are replaced by the values to which they refer.)",
                   nb::sig("def document(self) -> dict[str, object]"))
      .def_prop_ro("folder", &SceneFileHandle::folder,
                   "Folder to which paths in the document are relative; empty for the current directory.")
      .def(
          "to_dict",
          [](SceneFileHandle& handle) {
            return nb::object(nb::module_::import_("copy").attr("deepcopy")(handle.document()));
          },
          "Return a deep copy of `document`.", nb::sig("def to_dict(self) -> dict[str, object]"))
      .def(
          "save",
          [](SceneFileHandle& handle, nb::handle path) {
            const MPI_Comm comm = handle.shared()->mesh()->comm();
            const std::string to = read_path(comm, path);
            app::Value document = read_on_all_ranks(comm, [&] { return document_of(handle.document(), to); });
            const LibraryScope scope;
            require_same_on_all_ranks(comm, "path", to);
            app::save_document(comm, std::move(document), handle.folder(), to);
          },
          nb::arg("path"),
          R"(Write `document` as a scene file, which `diffsim` and SceneFile read. Collective.

Relative paths of input files are changed if `path` is in another folder. Raises an InputError if the document is not a
valid scene, or if the file cannot be written. Files that the scene names are not checked.)",
          nb::sig("def save(self, path: object) -> None"))
      .def(
          "set_found", &set_found, nb::arg("problem"), nb::arg("u"), nb::arg("path") = "",
          R"(Store the values of the unknowns at u as start values (`initial`) of the document's `parameters`. Collective.

problem: a result of `problem()` of this scene file. u: this rank's part of a point, for example result["u"]. path: HDF5
file to which values per cell or vertex are written; needed if the problem has such values. Values that all ranks share
are stored in the document. The problem of the saved scene starts at u, up to rounding errors.)",
          nb::sig("def set_found(self, problem: InverseProblem, u: object, path: str = '') -> None"));
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
            {
              const LibraryScope scope;
              require_same_on_all_ranks(on, "path", path);
            }
            std::shared_ptr<app::SceneFile> file = make_file(comm, path);
            new (self) SceneFileHandle(std::move(file), std::move(comm));
          },
          nb::arg("path"), nb::arg("comm") = nb::none(),
          R"(Read a scene file, and the files that the scene file names. Collective.

The sections checkpoint, optimiser, output and petsc are checked, but have no effect.
set_petsc_options(file.document["petsc"]) sets the options of the section petsc.)",
          nb::sig("def __init__(self, path: str, comm: object | None = None) -> None"))
      .def_prop_ro(
          "mesh",
          [](const SceneFileHandle& handle) {
            auto* mesh = new MeshHandle(handle.scenes().front()->mesh());
            mesh->comm = handle.comm();
            mesh->record = handle.mesh_record();
            return mesh;
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(), "Mesh of all bodies.")
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
  bind_document(bound);
}

}  // namespace diffsim::python

#else

namespace diffsim::python {

namespace {

[[noreturn]] void throw_without_runner() {
  throw InputError("this build of the package does not read scenes of the runner; build it with the library's sources");
}

}  // namespace

void bind_scene_file(nb::module_& module) {
  struct NoSceneFile {};
  nb::class_<NoSceneFile>(module, "SceneFile", "Scene file of the program `diffsim`; not available in this build.")
      .def(
          "__init__", [](NoSceneFile*, const std::string&, nb::object) { throw_without_runner(); }, nb::arg("path"),
          nb::arg("comm") = nb::none())
      .def_static(
          "from_dict", [](nb::object, const std::string&, nb::object) { throw_without_runner(); }, nb::arg("document"),
          nb::arg("folder") = "", nb::arg("comm") = nb::none(),
          "Raise an InputError: scenes are not available in this build.");
}

}  // namespace diffsim::python

#endif
