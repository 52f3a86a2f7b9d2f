// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <petscmat.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "core/petsc_handle.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/prior.hpp"
#include "inverse/petsc_vectors.hpp"
#include "mesh/face_neighbours.hpp"

namespace diffsim {

using namespace inverse;

namespace {

using MatHandle = PetscHandle<Mat, MatDestroy>;
using Point = std::array<double, 3>;

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Index, over all ranks, of this rank's first item, if the ranks' items follow each other.
PetscInt first_index(MPI_Comm comm, std::size_t count) {
  const auto mine = static_cast<PetscInt>(count);
  PetscInt first = 0;
  DIFFSIM_MPI(MPI_Exscan(&mine, &first, 1, MPIU_INT, MPI_SUM, comm));
  return rank_of(comm) == 0 ? 0 : first;
}

/// Matrix of this rank's rows and columns with at most `per_row` entries in a row.
MatHandle make_matrix(MPI_Comm comm, std::size_t rows, std::size_t columns, PetscInt per_row) {
  MatHandle matrix;
  DIFFSIM_PETSC(MatCreateAIJ(comm, static_cast<PetscInt>(rows), static_cast<PetscInt>(columns), PETSC_DETERMINE,
                             PETSC_DETERMINE, per_row, nullptr, per_row, nullptr, matrix.out()));
  return matrix;
}

void set_row(Mat matrix, PetscInt row, const std::vector<PetscInt>& columns, const std::vector<double>& values) {
  DIFFSIM_PETSC(MatSetValues(matrix, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(), values.data(),
                             INSERT_VALUES));
}

void assemble(Mat matrix) {
  DIFFSIM_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  DIFFSIM_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

std::vector<double> product(MPI_Comm comm, Mat matrix, std::size_t rows, const std::vector<double>& x) {
  const VecHandle from = make_vec(comm, x), to = make_vec(comm, std::vector<double>(rows, 0.0));
  DIFFSIM_PETSC(MatMult(matrix, from, to));
  return values_of(to);
}

Point position(const TetrahedralMesh& mesh, int vertex) {
  const double* const x = mesh.rest_positions().data() + 3 * static_cast<std::ptrdiff_t>(vertex);
  return {x[0], x[1], x[2]};
}

/// Corners of the local tetrahedron `cell`.
std::array<int, 4> corners(const TetrahedralMesh& mesh, std::size_t cell) {
  const auto nodes = mesh.cells().subspan(cell * static_cast<std::size_t>(mesh.nodes_per_cell()), 4);
  return {nodes[0], nodes[1], nodes[2], nodes[3]};
}

/// Vertices of the linear tetrahedra into which a cell is divided: the cell itself, or eight parts of a second-order
/// cell, four at its corners and four around the diagonal from edge (0, 1) to edge (2, 3).
std::vector<std::array<int, 4>> linear_parts(const TetrahedralMesh& mesh, std::size_t cell) {
  if (mesh.order() == 1) return {corners(mesh, cell)};
  static constexpr int parts[8][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3},
                                      {4, 9, 5, 6}, {4, 9, 6, 7}, {4, 9, 7, 8}, {4, 9, 8, 5}};
  const auto nodes = mesh.cells().subspan(10 * cell, 10);
  std::vector<std::array<int, 4>> result;
  for (const auto& part : parts) {
    std::array<int, 4> vertices{};
    for (std::size_t i = 0; i < 4; ++i) vertices[i] = nodes[static_cast<std::size_t>(part[i])];
    result.push_back(vertices);
  }
  return result;
}

/// Volume of a tetrahedron, and the gradients of its four linear shape functions.
struct LinearCell {
  double volume;
  std::array<Point, 4> gradients;

  LinearCell(const TetrahedralMesh& mesh, const std::array<int, 4>& vertices) {
    const Point x0 = position(mesh, vertices[0]);
    std::array<Point, 3> e;
    for (std::size_t i = 0; i < 3; ++i) e[i] = minus(position(mesh, vertices[i + 1]), x0);
    const double det = dot(e[0], cross(e[1], e[2]));
    volume = std::abs(det) / 6.0;
    gradients[0] = {};
    for (std::size_t i = 0; i < 3; ++i) {
      const Point normal = cross(e[(i + 1) % 3], e[(i + 2) % 3]);
      for (std::size_t d = 0; d < 3; ++d) {
        gradients[i + 1][d] = normal[d] / det;
        gradients[0][d] -= gradients[i + 1][d];
      }
    }
  }
};

}  // namespace

struct ValueGradient::Implementation {
  MPI_Comm comm = MPI_COMM_NULL;
  int dimension = 3;
  MatHandle matrix;  // ∇u as a function of u: [points · width, values]
  std::size_t width = 1;
  std::vector<double> measure, lumped;
};

ValueGradient::ValueGradient(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
ValueGradient::~ValueGradient() = default;
ValueGradient::ValueGradient(ValueGradient&&) noexcept = default;

MPI_Comm ValueGradient::comm() const { return implementation_->comm; }
int ValueGradient::dimension() const { return implementation_->dimension; }
std::size_t ValueGradient::size() const { return implementation_->lumped.size(); }
std::size_t ValueGradient::width() const { return implementation_->width; }
const std::vector<double>& ValueGradient::measure() const { return implementation_->measure; }
const std::vector<double>& ValueGradient::lumped() const { return implementation_->lumped; }

std::vector<double> ValueGradient::times(const std::vector<double>& u) const {
  return product(comm(), implementation_->matrix, width() * measure().size(), u);
}

std::vector<double> ValueGradient::transpose_times(const std::vector<double>& y) const {
  const VecHandle from = make_vec(comm(), y), to = make_vec(comm(), std::vector<double>(size(), 0.0));
  DIFFSIM_PETSC(MatMultTranspose(implementation_->matrix, from, to));
  return values_of(to);
}

std::vector<double> ValueGradient::stiffness_times(const std::vector<double>& u) const {
  std::vector<double> slope = times(u);
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] *= measure()[i / width()];
  return transpose_times(slope);
}

ValueGradient ValueGradient::of_cells(const TetrahedralMesh& mesh) {
  const MPI_Comm comm = mesh.comm();
  const auto num_cells = static_cast<std::size_t>(mesh.num_cells());
  std::vector<PetscInt> in_file;
  std::vector<double> centroids[3];
  auto made = std::make_unique<Implementation>();
  made->comm = comm;
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    Point sum{};
    for (const int vertex : corners(mesh, cell)) {
      in_file.push_back(mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)]);
      const Point x = position(mesh, vertex);
      for (std::size_t d = 0; d < 3; ++d) sum[d] += 0.25 * x[d];
    }
    for (std::size_t d = 0; d < 3; ++d) centroids[d].push_back(sum[d]);
    made->lumped.push_back(LinearCell(mesh, corners(mesh, cell)).volume);
  }
  const std::vector<PetscInt> neighbours = face_neighbours(comm, in_file, mesh.num_global_vertices());

  // Each face is a row of the rank that has the face's cell of smaller number.
  struct Side {
    std::size_t cell;
    PetscInt other;
    Point normal;  // with the length of twice the area
  };
  std::vector<Side> sides;
  const PetscInt first_cell = first_index(comm, num_cells);
  for (std::size_t cell = 0; cell < num_cells; ++cell)
    for (std::size_t corner = 0; corner < 4; ++corner) {
      const PetscInt other = neighbours[4 * cell + corner];
      if (other <= first_cell + static_cast<PetscInt>(cell)) continue;
      const std::array<int, 4> at = corners(mesh, cell);
      const Point x0 = position(mesh, at[(corner + 1) % 4]);
      sides.push_back(
          {cell, other,
           cross(minus(position(mesh, at[(corner + 2) % 4]), x0), minus(position(mesh, at[(corner + 3) % 4]), x0))});
    }
  made->matrix = make_matrix(comm, sides.size(), num_cells, 2);
  const PetscInt first_row = first_index(comm, sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i)
    set_row(made->matrix, first_row + static_cast<PetscInt>(i),
            {first_cell + static_cast<PetscInt>(sides[i].cell), sides[i].other}, {-1.0, 1.0});
  assemble(made->matrix);

  std::vector<double> distance(sides.size(), 0.0), inverse(sides.size());
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double> step = product(comm, made->matrix, sides.size(), centroids[d]);
    for (std::size_t i = 0; i < sides.size(); ++i) distance[i] += step[i] * sides[i].normal[d];
  }
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const double twice_area = std::sqrt(dot(sides[i].normal, sides[i].normal));
    distance[i] = std::abs(distance[i]) / twice_area;
    inverse[i] = 1.0 / distance[i];
    made->measure.push_back(0.5 * twice_area * distance[i]);
  }
  DIFFSIM_PETSC(MatDiagonalScale(made->matrix, make_vec(comm, inverse), nullptr));
  return ValueGradient(std::move(made));
}

ValueGradient ValueGradient::of_vertices(const TetrahedralMesh& mesh, int components) {
  const MPI_Comm comm = mesh.comm();
  const auto owned = static_cast<std::size_t>(mesh.num_owned_vertices());
  const auto num_components = static_cast<std::size_t>(components);
  std::vector<PetscInt> number(static_cast<std::size_t>(mesh.num_vertices()));
  const PetscInt first_vertex = first_index(comm, owned);
  for (std::size_t v = 0; v < owned; ++v) number[v] = first_vertex + static_cast<PetscInt>(v);
  mesh.vertex_exchange().copy_to_ghosts(number);

  std::vector<std::array<int, 4>> parts;
  for (std::size_t cell = 0; cell < static_cast<std::size_t>(mesh.num_cells()); ++cell)
    for (const std::array<int, 4>& part : linear_parts(mesh, cell)) parts.push_back(part);
  auto made = std::make_unique<Implementation>();
  made->comm = comm;
  made->width = 3 * num_components;
  made->matrix = make_matrix(comm, made->width * parts.size(), num_components * owned, 4);
  Field volumes("volume", mesh.vertex_entities());
  std::vector<double> sums(volumes.size(), 0.0);
  PetscInt row = first_index(comm, made->width * parts.size());
  for (const std::array<int, 4>& part : parts) {
    const LinearCell cell(mesh, part);
    made->measure.push_back(cell.volume);
    for (const int vertex : part) sums[static_cast<std::size_t>(vertex)] += 0.25 * cell.volume;
    for (PetscInt c = 0; c < components; ++c)
      for (std::size_t d = 0; d < 3; ++d, ++row) {
        std::vector<PetscInt> columns;
        std::vector<double> values;
        for (std::size_t i = 0; i < 4; ++i) {
          columns.push_back(components * number[static_cast<std::size_t>(part[i])] + c);
          values.push_back(cell.gradients[i][d]);
        }
        set_row(made->matrix, row, columns, values);
      }
  }
  assemble(made->matrix);
  volumes.from_host(sums);
  mesh.vertex_exchange().add_to_owners(volumes);
  sums = volumes.to_host();
  collectively(comm, [&] {
    for (std::size_t v = 0; v < owned; ++v)
      if (sums[v] == 0.0)
        throw Error(
            "a prior of smooth values on vertices needs a tetrahedron at each vertex; the mesh has vertices "
            "without one",
            ErrorKind::input);
  });
  for (std::size_t v = 0; v < owned; ++v) made->lumped.insert(made->lumped.end(), num_components, sums[v]);
  return ValueGradient(std::move(made));
}

ValueGradient ValueGradient::of_steps(MPI_Comm comm, int steps, int components, double dt) {
  const auto num_components = static_cast<std::size_t>(components);
  const std::size_t num_steps = is_first_rank(comm) ? static_cast<std::size_t>(steps) : 0;
  const std::size_t points = num_steps > 0 ? num_steps - 1 : 0;
  auto made = std::make_unique<Implementation>();
  made->comm = comm;
  made->dimension = 1;
  made->width = num_components;
  made->matrix = make_matrix(comm, points * num_components, num_steps * num_components, 2);
  for (std::size_t i = 0; i < points * num_components; ++i) {
    const auto row = static_cast<PetscInt>(i);
    set_row(made->matrix, row, {row, row + components}, {-1.0 / dt, 1.0 / dt});
  }
  assemble(made->matrix);
  made->measure.assign(points, dt);
  made->lumped.assign(num_steps * num_components, dt);
  return ValueGradient(std::move(made));
}

}  // namespace diffsim
