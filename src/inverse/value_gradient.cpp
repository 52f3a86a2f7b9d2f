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

/// Global index of this rank's first item, if the items are numbered consecutively from rank to rank.
PetscInt first_index(MPI_Comm comm, std::size_t count) {
  const auto mine = static_cast<PetscInt>(count);
  PetscInt first = 0;
  DIFFSIM_MPI(MPI_Exscan(&mine, &first, 1, MPIU_INT, MPI_SUM, comm));
  return rank_of(comm) == 0 ? 0 : first;
}

/// Creates a distributed matrix with `rows` rows and `columns` columns on this rank, and at most `per_row` entries per
/// row.
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

std::vector<double> transposed_product(MPI_Comm comm, Mat matrix, std::size_t columns, const std::vector<double>& y) {
  const VecHandle from = make_vec(comm, y), to = make_vec(comm, std::vector<double>(columns, 0.0));
  DIFFSIM_PETSC(MatMultTranspose(matrix, from, to));
  return values_of(to);
}

Point position(const TetrahedralMesh& mesh, int vertex) {
  const double* const x = mesh.rest_positions().data() + 3 * static_cast<std::ptrdiff_t>(vertex);
  return {x[0], x[1], x[2]};
}

/// Local vertex numbers of the corners of the local tetrahedron `cell`.
std::array<int, 4> corners(const TetrahedralMesh& mesh, std::size_t cell) {
  const auto nodes = mesh.cells().subspan(cell * static_cast<std::size_t>(mesh.nodes_per_cell()), 4);
  return {nodes[0], nodes[1], nodes[2], nodes[3]};
}

/// Vertices of the linear tetrahedra into which a cell is divided. A linear cell is not divided. A second-order cell
/// has eight parts: four at the corners, and four around the diagonal from the midpoint of edge (0, 1) to the midpoint
/// of edge (2, 3).
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

/// Global numbers of this rank's vertices: owned vertices, then ghosts.
std::vector<PetscInt> global_vertices(const TetrahedralMesh& mesh) {
  const auto owned = static_cast<std::size_t>(mesh.num_owned_vertices());
  std::vector<PetscInt> number(static_cast<std::size_t>(mesh.num_vertices()));
  const PetscInt first = first_index(mesh.comm(), owned);
  for (std::size_t v = 0; v < owned; ++v) number[v] = first + static_cast<PetscInt>(v);
  mesh.vertex_exchange().copy_to_ghosts(number);
  return number;
}

/// Faces between two tetrahedra. The first tetrahedron of a face has the smaller global number; the face belongs to the
/// rank of this tetrahedron.
class Faces {
 public:
  explicit Faces(const TetrahedralMesh& mesh) : comm_(mesh.comm()) {
    const auto num_cells = static_cast<std::size_t>(mesh.num_cells());
    std::vector<PetscInt> in_file;
    for (std::size_t cell = 0; cell < num_cells; ++cell) {
      Point sum{};
      for (const int vertex : corners(mesh, cell)) {
        in_file.push_back(mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)]);
        const Point x = position(mesh, vertex);
        for (std::size_t d = 0; d < 3; ++d) sum[d] += 0.25 * x[d];
      }
      for (std::size_t d = 0; d < 3; ++d) centroids[d].push_back(sum[d]);
      volumes.push_back(LinearCell(mesh, corners(mesh, cell)).volume);
    }
    const std::vector<PetscInt> neighbours = face_neighbours(comm_, in_file, mesh.num_global_vertices());
    first_cell = first_index(comm_, num_cells);
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
    differences = make_matrix(comm_, sides.size(), num_cells, 2);
    first_row = first_index(comm_, sides.size());
    for (std::size_t i = 0; i < sides.size(); ++i)
      set_row(differences, first_row + static_cast<PetscInt>(i),
              {first_cell + static_cast<PetscInt>(sides[i].cell), sides[i].other}, {-1.0, 1.0});
    assemble(differences);
    for (std::size_t d = 0; d < 3; ++d) steps_[d] = product(comm_, differences, sides.size(), centroids[d]);
  }

  std::size_t num() const { return sides.size(); }
  Point centroid(std::size_t cell) const { return {centroids[0][cell], centroids[1][cell], centroids[2][cell]}; }
  /// Vector from the centroid of the first tetrahedron of face i to the centroid of the second.
  Point step(std::size_t i) const { return {steps_[0][i], steps_[1][i], steps_[2][i]}; }
  double area(std::size_t i) const { return 0.5 * std::sqrt(dot(sides[i].normal, sides[i].normal)); }
  /// Distance, along the normal of face i, between the centroids of the two tetrahedra.
  double normal_distance(std::size_t i) const { return std::abs(dot(step(i), sides[i].normal)) / (2.0 * area(i)); }

  struct Side {
    std::size_t cell;  // local number of the first tetrahedron
    PetscInt other;    // global number of the second tetrahedron
    Point normal;      // normal vector of length 2 · area
  };
  std::vector<Side> sides;
  std::vector<double> volumes, centroids[3];  // one per local tetrahedron
  PetscInt first_cell = 0, first_row = 0;
  MatHandle differences;  // maps values of tetrahedra to differences of values across faces, [faces, cells]

 private:
  MPI_Comm comm_;
  std::vector<double> steps_[3];
};

/// Least-squares fit, at each vertex, of a linear function of the position to the values at the centroids of the
/// adjacent tetrahedra.
class VertexFits {
 public:
  VertexFits(const TetrahedralMesh& mesh, const std::vector<double> (&centroids)[3]) : mesh_(mesh) {
    Field sums("normal_equations", mesh.vertex_entities(), 16);
    std::vector<double> matrices(sums.size(), 0.0);
    for (std::size_t cell = 0; cell < centroids[0].size(); ++cell)
      for (const int vertex : corners(mesh, cell)) {
        const std::array<double, 4> row = row_of(vertex, {centroids[0][cell], centroids[1][cell], centroids[2][cell]});
        double* const matrix = matrices.data() + 16 * static_cast<std::size_t>(vertex);
        for (std::size_t i = 0; i < 4; ++i)
          for (std::size_t j = 0; j < 4; ++j) matrix[4 * i + j] += row[i] * row[j];
      }
    sums.from_host(matrices);
    mesh.vertex_exchange().add_to_owners(sums);
    mesh.vertex_exchange().copy_to_ghosts(sums);
    matrices = sums.to_host();
    for (std::size_t v = 0; v < static_cast<std::size_t>(mesh.num_vertices()); ++v)
      first_rows_.push_back(first_row_of_inverse(matrices.data() + 16 * v));
  }
  /// Weight with which the value of an adjacent tetrahedron enters the value of the fit at the vertex. `centroid`:
  /// centroid of the tetrahedron.
  double weight(int vertex, const Point& centroid) const {
    const std::array<double, 4> row = row_of(vertex, centroid);
    const std::array<double, 4>& inverse = first_rows_[static_cast<std::size_t>(vertex)];
    return inverse[0] * row[0] + inverse[1] * row[1] + inverse[2] * row[2] + inverse[3] * row[3];
  }

 private:
  std::array<double, 4> row_of(int vertex, const Point& centroid) const {
    const Point offset = minus(centroid, position(mesh_, vertex));
    return {1.0, offset[0], offset[1], offset[2]};
  }
  /// Returns the first row of the inverse of the normal matrix Σ r rᵀ, [4, 4], where r is `row_of` for each tetrahedron
  /// at the vertex. If the centroids do not determine all slopes, as at a corner with a single tetrahedron, the fit is
  /// a constant.
  static std::array<double, 4> first_row_of_inverse(const double* matrix) {
    const double count = matrix[0];
    if (count == 0.0) return {};
    // Each component of r is divided by its root mean square, so that the diagonal of the scaled matrix is 1.
    double size[4];
    for (std::size_t i = 0; i < 4; ++i) size[i] = std::sqrt(matrix[5 * i] / count);
    double scaled[4][5];
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j)
        scaled[i][j] = size[i] > 0.0 && size[j] > 0.0 ? matrix[4 * i + j] / (count * size[i] * size[j]) : 0.0;
      scaled[i][4] = i == 0 ? 1.0 : 0.0;
    }
    // Gauss–Jordan elimination of a positive semidefinite matrix. Each pivot is the largest remaining diagonal entry;
    // the first pivot belongs to the constant term of the linear function.
    bool is_used[4] = {};
    for (int k = 0; k < 4; ++k) {
      std::size_t pivot = 4;
      for (std::size_t i = 0; i < 4; ++i)
        if (!is_used[i] && (pivot == 4 || scaled[i][i] > scaled[pivot][pivot])) pivot = i;
      if (scaled[pivot][pivot] < 1e-3) return {1.0 / count, 0.0, 0.0, 0.0};
      is_used[pivot] = true;
      for (std::size_t i = 0; i < 4; ++i) {
        if (i == pivot) continue;
        const double factor = scaled[i][pivot] / scaled[pivot][pivot];
        for (std::size_t j = 0; j < 5; ++j) scaled[i][j] -= factor * scaled[pivot][j];
      }
    }
    std::array<double, 4> result{};
    for (std::size_t i = 0; i < 4; ++i) result[i] = scaled[i][4] / scaled[i][i] / (count * size[i]);
    return result;
  }

  const TetrahedralMesh& mesh_;
  std::vector<std::array<double, 4>> first_rows_;
};

}  // namespace

struct ValueGradient::Implementation {
  MPI_Comm comm = MPI_COMM_NULL;
  int dimension = 3;
  MatHandle matrix;  // D, [rows, values]; for `of_cells`, D = `matrix` · `average` for the first rows
  std::size_t rows = 0;
  std::size_t width = 1;
  std::vector<double> measure, lumped;
  // For `of_cells` only: `average` maps values of cells to values of the fits at vertices, [vertices, cells];
  // `differences` maps values of cells to difference quotients across faces, [faces, cells]; `explained` maps gradients
  // of cells to the difference quotients of the linear functions with these gradients, [faces, 3 cells].
  MatHandle average, differences, explained;
  std::size_t num_vertices = 0, num_faces = 0;
  // For `of_cells` only: matrix and measures of `across_faces`.
  MatHandle across;
  std::vector<double> across_measure;
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
  const Implementation& of = *implementation_;
  if (!of.average) return product(of.comm, of.matrix, of.rows, u);
  std::vector<double> slopes = product(of.comm, of.matrix, of.rows, product(of.comm, of.average, of.num_vertices, u));
  const std::vector<double> difference = product(of.comm, of.differences, of.num_faces, u),
                            part = product(of.comm, of.explained, of.num_faces, slopes);
  for (std::size_t i = 0; i < of.num_faces; ++i) slopes.push_back(difference[i] - part[i]);
  return slopes;
}

std::vector<double> ValueGradient::transpose_times(const std::vector<double>& y) const {
  const Implementation& of = *implementation_;
  if (!of.average) return transposed_product(of.comm, of.matrix, size(), y);
  const auto faces = y.begin() + static_cast<std::ptrdiff_t>(of.rows);
  std::vector<double> slopes(y.begin(), faces);
  const std::vector<double> residuals(faces, y.end());
  const std::vector<double> part = transposed_product(of.comm, of.explained, of.rows, residuals);
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] -= part[i];
  std::vector<double> result = transposed_product(of.comm, of.differences, size(), residuals);
  const std::vector<double> by_vertices =
      transposed_product(of.comm, of.average, size(), transposed_product(of.comm, of.matrix, of.num_vertices, slopes));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += by_vertices[i];
  return result;
}

std::vector<double> ValueGradient::stiffness_times(const std::vector<double>& u) const {
  std::vector<double> slope = times(u);
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] *= measure()[i];
  return transpose_times(slope);
}

void ValueGradient::for_each_row(const RowFunction& function) const {
  const Implementation& of = *implementation_;
  const Mat matrix = of.average ? of.across : of.matrix;
  const std::vector<double>& measures = of.average ? of.across_measure : of.measure;
  PetscInt begin = 0, end = 0;
  DIFFSIM_PETSC(MatGetOwnershipRange(matrix, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* entries = nullptr;
    DIFFSIM_PETSC(MatGetRow(matrix, row, &count, &columns, &entries));
    function({columns, columns + count}, {entries, entries + count}, measures[static_cast<std::size_t>(row - begin)]);
    DIFFSIM_PETSC(MatRestoreRow(matrix, row, &count, &columns, &entries));
  }
}

namespace {

/// Divides the rows of `differences`, the differences across faces, by the centroids' distances along the normals.
/// Returns the measures of the rows (see ValueGradient::across_faces).
std::vector<double> scale_by_normal_distance(const Faces& faces, Mat differences) {
  std::vector<double> inverse, measure;
  for (std::size_t i = 0; i < faces.num(); ++i) {
    const double distance = faces.normal_distance(i);
    inverse.push_back(1.0 / distance);
    measure.push_back(faces.area(i) * distance);
  }
  MPI_Comm comm = MPI_COMM_NULL;
  DIFFSIM_PETSC(PetscObjectGetComm(reinterpret_cast<PetscObject>(differences), &comm));
  DIFFSIM_PETSC(MatDiagonalScale(differences, make_vec(comm, inverse), nullptr));
  return measure;
}

}  // namespace

ValueGradient ValueGradient::across_faces(const TetrahedralMesh& mesh) {
  Faces faces(mesh);
  auto made = std::make_unique<Implementation>();
  made->comm = mesh.comm();
  made->rows = faces.num();
  made->lumped = faces.volumes;
  made->measure = scale_by_normal_distance(faces, faces.differences);
  made->matrix = std::move(faces.differences);
  return ValueGradient(std::move(made));
}

ValueGradient ValueGradient::of_cells(const TetrahedralMesh& mesh) {
  const MPI_Comm comm = mesh.comm();
  Faces faces(mesh);
  const std::size_t num_cells = faces.volumes.size();
  auto made = std::make_unique<Implementation>();
  made->comm = comm;
  made->rows = 3 * num_cells;
  made->width = 0;
  made->num_vertices = static_cast<std::size_t>(mesh.num_owned_vertices());
  made->num_faces = faces.num();
  const std::vector<PetscInt> number = global_vertices(mesh);
  const VertexFits fits(mesh, faces.centroids);
  made->average = make_matrix(comm, made->num_vertices, num_cells, 32);
  DIFFSIM_PETSC(MatSetOption(made->average, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  made->matrix = make_matrix(comm, made->rows, made->num_vertices, 4);
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    const LinearCell shape(mesh, corners(mesh, cell));
    made->lumped.push_back(shape.volume);
    made->measure.insert(made->measure.end(), 3, shape.volume);
    const std::array<int, 4> at = corners(mesh, cell);
    std::vector<PetscInt> columns;
    for (std::size_t i = 0; i < 4; ++i) {
      columns.push_back(number[static_cast<std::size_t>(at[i])]);
      const PetscInt column = faces.first_cell + static_cast<PetscInt>(cell);
      const double weight = fits.weight(at[i], faces.centroid(cell));
      DIFFSIM_PETSC(MatSetValues(made->average, 1, &columns.back(), 1, &column, &weight, ADD_VALUES));
    }
    for (std::size_t d = 0; d < 3; ++d)
      set_row(made->matrix, 3 * (faces.first_cell + static_cast<PetscInt>(cell)) + static_cast<PetscInt>(d), columns,
              {shape.gradients[0][d], shape.gradients[1][d], shape.gradients[2][d], shape.gradients[3][d]});
  }
  assemble(made->average);
  assemble(made->matrix);

  made->explained = make_matrix(comm, made->num_faces, made->rows, 6);
  std::vector<double> inverse;
  for (std::size_t i = 0; i < faces.num(); ++i) {
    const Point step = faces.step(i);
    const PetscInt cells[2] = {faces.first_cell + static_cast<PetscInt>(faces.sides[i].cell), faces.sides[i].other};
    std::vector<PetscInt> columns;
    std::vector<double> values;
    for (const PetscInt cell : cells)
      for (PetscInt d = 0; d < 3; ++d) {
        columns.push_back(3 * cell + d);
        values.push_back(0.5 * step[static_cast<std::size_t>(d)]);
      }
    set_row(made->explained, faces.first_row + static_cast<PetscInt>(i), columns, values);
    inverse.push_back(1.0 / std::sqrt(dot(step, step)));
    made->measure.push_back(faces.area(i) * faces.normal_distance(i));
  }
  assemble(made->explained);
  DIFFSIM_PETSC(MatDuplicate(faces.differences, MAT_COPY_VALUES, made->across.out()));
  made->across_measure = scale_by_normal_distance(faces, made->across);
  made->differences = std::move(faces.differences);
  for (Mat matrix : {static_cast<Mat>(made->differences), static_cast<Mat>(made->explained)})
    DIFFSIM_PETSC(MatDiagonalScale(matrix, make_vec(comm, inverse), nullptr));
  return ValueGradient(std::move(made));
}

ValueGradient ValueGradient::of_vertices(const TetrahedralMesh& mesh, int components) {
  const MPI_Comm comm = mesh.comm();
  const auto owned = static_cast<std::size_t>(mesh.num_owned_vertices());
  const auto num_components = static_cast<std::size_t>(components);
  const std::vector<PetscInt> number = global_vertices(mesh);

  std::vector<std::array<int, 4>> parts;
  for (std::size_t cell = 0; cell < static_cast<std::size_t>(mesh.num_cells()); ++cell)
    for (const std::array<int, 4>& part : linear_parts(mesh, cell)) parts.push_back(part);
  auto made = std::make_unique<Implementation>();
  made->comm = comm;
  made->width = 3 * num_components;
  made->rows = made->width * parts.size();
  made->matrix = make_matrix(comm, made->rows, num_components * owned, 4);
  Field volumes("volume", mesh.vertex_entities());
  std::vector<double> sums(volumes.size(), 0.0);
  PetscInt row = first_index(comm, made->rows);
  for (const std::array<int, 4>& part : parts) {
    const LinearCell cell(mesh, part);
    made->measure.insert(made->measure.end(), made->width, cell.volume);
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
            "smooth values on vertices need a tetrahedron at each vertex; the mesh has vertices "
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
  made->rows = points * num_components;
  made->matrix = make_matrix(comm, made->rows, num_steps * num_components, 2);
  for (std::size_t i = 0; i < points * num_components; ++i) {
    const auto row = static_cast<PetscInt>(i);
    set_row(made->matrix, row, {row, row + components}, {-1.0 / dt, 1.0 / dt});
  }
  assemble(made->matrix);
  made->measure.assign(made->rows, dt);
  made->lumped.assign(num_steps * num_components, dt);
  return ValueGradient(std::move(made));
}

}  // namespace diffsim
