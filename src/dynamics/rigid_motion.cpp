// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/rigid_motion.hpp"

#include <cmath>

#include "core/add_to_entries.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/field.hpp"

namespace diffsim::dynamics {

/// Coefficients of a rigid motion over the time span h. Kernels capture this struct by value.
struct RigidMotion::Frame {
  Vec3<double> origin, shift, velocity, axis;  // o, h V, V, a
  double rate, h;                              // ω (rad/s), h (s)
  Mat3<double> rotation, slope;                // R(ω h), dR/d(ω h)
  double num_places;                           // vertices from this index on are directors

  /// Returns the factor of the translation of vertex i: 1 for a point, 0 for a director.
  KOKKOS_INLINE_FUNCTION double travels(int i) const { return i < num_places ? 1.0 : 0.0; }
};

namespace {

KOKKOS_INLINE_FUNCTION Vec3<double> at(const double* field, int vertex) {
  return {{field[3 * vertex], field[3 * vertex + 1], field[3 * vertex + 2]}};
}
KOKKOS_INLINE_FUNCTION void set(double* field, int vertex, const Vec3<double>& value) {
  for (int c = 0; c < 3; ++c) field[3 * vertex + c] = value[c];
}
KOKKOS_INLINE_FUNCTION Vec3<double> times(double a, const Vec3<double>& x) { return {{a * x[0], a * x[1], a * x[2]}}; }

/// Returns R(θ) about the unit axis a, or dR/dθ if `derivative` (Rodrigues' formula).
Mat3<double> rotation(const Vec3<double>& a, double theta, bool derivative) {
  const double c = derivative ? -std::sin(theta) : std::cos(theta), s = derivative ? std::cos(theta) : std::sin(theta);
  const double rest = derivative ? std::sin(theta) : 1.0 - std::cos(theta);
  Mat3<double> R;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R(i, j) = (i == j ? c : 0.0) + rest * a[i] * a[j];
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    R(k, j) += s * a[i];
    R(j, k) -= s * a[i];
  }
  return R;
}

/// Computes y = o + h V + q and v = V + ω a×q of each vertex, where q = R (x - o). For directors, o and V count as
/// zero.
template <class Frame>
void move_vertices(const DeviceArray<int>& vertices, const Frame& frame, const double* x, double* y, double* v) {
  Kokkos::parallel_for(
      "diffsim::dynamics::rigid_motion", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        const int vertex = vertices(i);
        const double travels = frame.travels(i);
        const Vec3<double> q = frame.rotation * (at(x, vertex) - times(travels, frame.origin));
        set(y, vertex, times(travels, frame.origin + frame.shift) + q);
        set(v, vertex, times(travels, frame.velocity) + times(frame.rate, cross(frame.axis, q)));
      });
  Kokkos::fence();
}

/// Computes the derivatives of y and v of `move_vertices` along dx, do, dV and dω. With r = x - o and R' = dR/d(ω h):
/// dq = R (dx - do) + h dω R' r, dy = do + h dV + dq, dv = dV + dω a×q + ω a×dq.
template <class Frame>
void move_tangents(const DeviceArray<int>& vertices, const Frame& frame, const Vec3<double>& d_origin,
                   const Vec3<double>& d_velocity, double d_rate, const double* x, const double* dx, double* dy,
                   double* dv) {
  Kokkos::parallel_for(
      "diffsim::dynamics::rigid_motion_tangent", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        const int vertex = vertices(i);
        const double travels = frame.travels(i);
        const Vec3<double> r = at(x, vertex) - times(travels, frame.origin), q = frame.rotation * r;
        const Vec3<double> dq =
            frame.rotation * (at(dx, vertex) - times(travels, d_origin)) + times(frame.h * d_rate, frame.slope * r);
        set(dy, vertex, times(travels, d_origin + times(frame.h, d_velocity)) + dq);
        set(dv, vertex,
            times(travels, d_velocity) + times(d_rate, cross(frame.axis, q)) +
                times(frame.rate, cross(frame.axis, dq)));
      });
  Kokkos::fence();
}

/// Adjoints of one vertex: the adjoint r̄ = Rᵀ q̄ of r = x - o, with q̄ = ȳ + ω v̄×a, and the contribution `rate` =
/// h q̄·(R' r) + v̄·(a×q) to ∂L/∂ω.
template <class Frame>
struct VertexAdjoint {
  Vec3<double> r_bar;
  double rate;
  KOKKOS_INLINE_FUNCTION VertexAdjoint(const Frame& frame, double travels, const Vec3<double>& x,
                                       const Vec3<double>& y_bar, const Vec3<double>& v_bar) {
    const Vec3<double> r = x - times(travels, frame.origin), q = frame.rotation * r;
    const Vec3<double> q_bar = y_bar + times(frame.rate, cross(v_bar, frame.axis));
    r_bar = transpose(frame.rotation) * q_bar;
    rate = frame.h * dot(q_bar, frame.slope * r) + dot(v_bar, cross(frame.axis, q));
  }
};

/// Returns one of seven sums over the vertices, selected by k. k = 0: ∂L/∂ω; k = 1, 2, 3: components of Σ (ȳ - r̄);
/// k = 4, 5, 6: components of Σ (v̄ + h ȳ).
template <class Frame>
double adjoint_sum(int k, const DeviceArray<int>& vertices, const Frame& frame, const double* x, const double* y_bar,
                   const double* v_bar) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::rigid_motion_gradient", Range(0, static_cast<int>(vertices.size())),
      KOKKOS_LAMBDA(int i, double& s) {
        const int vertex = vertices(i);
        const VertexAdjoint<Frame> one(frame, frame.travels(i), at(x, vertex), at(y_bar, vertex), at(v_bar, vertex));
        if (k == 0)
          s += one.rate;
        else if (k < 4)
          s += frame.travels(i) * (y_bar[3 * vertex + k - 1] - one.r_bar[k - 1]);
        else
          s += frame.travels(i) * (v_bar[3 * vertex + k - 4] + frame.h * y_bar[3 * vertex + k - 4]);
      },
      sum);
  return sum;
}

/// Replaces ȳ by x̄ = r̄ (VertexAdjoint) and v̄ by 0 at each vertex, because v does not enter `move_vertices`.
template <class Frame>
void move_adjoints(const DeviceArray<int>& vertices, const Frame& frame, const double* x, double* y_bar,
                   double* v_bar) {
  Kokkos::parallel_for(
      "diffsim::dynamics::rigid_motion_adjoint", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        const int vertex = vertices(i);
        const VertexAdjoint<Frame> one(frame, frame.travels(i), at(x, vertex), at(y_bar, vertex), at(v_bar, vertex));
        set(y_bar, vertex, one.r_bar);
        set(v_bar, vertex, {{0.0, 0.0, 0.0}});
      });
  Kokkos::fence();
}

Vec3<double> vector_of(const Field& field) {
  const std::vector<double> values = field.to_host();
  return {{values[0], values[1], values[2]}};
}

void add_to_vector(Field& field, const Vec3<double>& change) {
  Vec3<double> sum = vector_of(field) + change;
  field.from_host({sum[0], sum[1], sum[2]});
}

/// Returns the value of `velocity` for step n, or zero if `velocity` is nullptr.
Vec3<double> velocity_at(const Parameter* velocity, int n) {
  if (!velocity) return {{0.0, 0.0, 0.0}};
  const std::vector<double> values = velocity->field.to_host();
  const std::size_t i = 3 * velocity->offset(n);
  return {{values[i], values[i + 1], values[i + 2]}};
}

}  // namespace

RigidMotion::RigidMotion(const std::string& name, std::array<double, 3> axis, std::array<double, 3> origin,
                         MPI_Comm comm, const std::vector<int>& vertices, const std::vector<int>& directors)
    : name_(name),
      axis_{{axis[0], axis[1], axis[2]}},
      origin_{{origin[0], origin[1], origin[2]}},
      comm_(comm),
      num_places_(static_cast<int>(vertices.size())) {
  std::vector<int> all = vertices;
  all.insert(all.end(), directors.begin(), directors.end());
  vertices_ = to_device("diffsim::dynamics::moved_vertices", all);
  const double length = std::sqrt(dot(axis_, axis_));
  if (!(length > 0.0))
    throw Error("the axis of a motion has no length; give a vector such as [0, 0, 1]", ErrorKind::input);
  axis_ = times(1.0 / length, axis_);
}

void RigidMotion::add_state(State& state) const {
  state.add(Field(origin(), Entities::one_for_all(comm_), 3)).from_host({origin_[0], origin_[1], origin_[2]});
}

void RigidMotion::advance(const ParameterSet& parameters, int step, double dt, State& state) const {
  add_to_vector(state[origin()], times(dt, velocity_at(&parameters.at(velocity()), step)));
}

void RigidMotion::advance_tangent(const ParameterSet&, const ParameterSet& direction, int step, double dt,
                                  State& tangent) const {
  add_to_vector(tangent[origin()], times(dt, velocity_at(direction.find(velocity()), step)));
}

void RigidMotion::advance_adjoint(const ParameterSet&, int step, double dt, State& adjoint,
                                  ParameterSet& gradient) const {
  Parameter* const given = gradient.find(velocity());
  if (!given) return;
  const Vec3<double> bar = times(dt, vector_of(adjoint[origin()]));
  add_to_entries(given->field, 3 * given->offset(step), {bar[0], bar[1], bar[2]});
}

RigidMotion::Frame RigidMotion::frame(const ParameterSet& parameters, const MotionSpan& span,
                                      const State& start) const {
  const Parameter& rate = parameters.at(angular_velocity());
  Frame frame;
  frame.rate = rate.field.to_host()[rate.offset(span.step)];
  frame.h = span.duration;
  frame.axis = axis_;
  frame.velocity = velocity_at(&parameters.at(velocity()), span.step);
  frame.shift = times(frame.h, frame.velocity);
  frame.origin = vector_of(start[origin()]) + times(span.begin, frame.velocity);
  frame.rotation = rotation(axis_, frame.rate * frame.h, false);
  frame.slope = rotation(axis_, frame.rate * frame.h, true);
  frame.num_places = num_places_;
  return frame;
}

void RigidMotion::apply(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                        Field& y, Field& v) const {
  move_vertices(vertices_, frame(parameters, span, start), x.data(), y.data(), v.data());
}

void RigidMotion::apply_tangent(const ParameterSet& parameters, const ParameterSet& direction, const MotionSpan& span,
                                const State& start, const State& start_tangent, const Field& x, const Field& dx,
                                Field& dy, Field& dv) const {
  double d_rate = 0.0;
  if (const Parameter* rate = direction.find(angular_velocity()))
    d_rate = rate->field.to_host()[rate->offset(span.step)];
  const Vec3<double> d_velocity = velocity_at(direction.find(velocity()), span.step);
  const Vec3<double> d_origin = vector_of(start_tangent[origin()]) + times(span.begin, d_velocity);
  move_tangents(vertices_, frame(parameters, span, start), d_origin, d_velocity, d_rate, x.data(), dx.data(), dy.data(),
                dv.data());
}

void RigidMotion::apply_adjoint(const ParameterSet& parameters, const MotionSpan& span, const State& start,
                                const Field& x, Field& y_bar, Field& v_bar, State& start_adjoint,
                                ParameterSet& gradient) const {
  const Frame now = frame(parameters, span, start);
  const auto sum = [&](int k) { return adjoint_sum(k, vertices_, now, x.data(), y_bar.data(), v_bar.data()); };
  if (Parameter* const rate = gradient.find(angular_velocity()))
    add_to_entries(rate->field, rate->offset(span.step), {sum(0)});
  const Vec3<double> origin_bar{{sum(1), sum(2), sum(3)}};
  add_to_vector(start_adjoint[origin()], origin_bar);
  if (Parameter* const given = gradient.find(velocity())) {
    std::vector<double> bar;
    for (int c = 0; c < 3; ++c) bar.push_back(span.begin * origin_bar[c] + sum(4 + c));
    add_to_entries(given->field, 3 * given->offset(span.step), bar);
  }
  move_adjoints(vertices_, now, x.data(), y_bar.data(), v_bar.data());
}

}  // namespace diffsim::dynamics
