// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <initializer_list>

#include "diffsim/core/config.hpp"
#include "diffsim/core/impl/macros.hpp"

namespace diffsim {

namespace detail {
template <class Function>
DIFFSIM_FUNCTION double by_lane(double x, Function function) {
  return function(x);
}
}  // namespace detail

/// Prefetches the cache lines of the `count` values that begin at `address`, which need not be a valid address. On a
/// GPU, `prefetch` does nothing.
template <int count, class T>
DIFFSIM_FUNCTION void prefetch([[maybe_unused]] const T* address) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  for (int i = 0; i < count; i += line) __builtin_prefetch(address + i);
#endif
}

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(DIFFSIM_EMULATE_DEVICE)

/// Scalar type of kernels. On a GPU, Pack is `double`, and each thread processes one element.
using Pack = double;
inline constexpr int pack_width = 1;

using std::abs, std::atan2, std::cbrt, std::copysign, std::exp, std::log, std::pow, std::sqrt;

DIFFSIM_FUNCTION double lane(double x, int) { return x; }
DIFFSIM_FUNCTION void set_lane(double& x, int, double value) { x = value; }
DIFFSIM_FUNCTION bool any_not_greater(double x, double bound) { return !(x > bound); }
DIFFSIM_FUNCTION double indicator_greater(double x, double bound) { return x > bound ? 1.0 : 0.0; }
DIFFSIM_FUNCTION double load(const double* source) { return *source; }
DIFFSIM_FUNCTION void store(double* target, double x) { *target = x; }
struct VectorLanes {
  double x[3];
  DIFFSIM_FUNCTION explicit VectorLanes(const double (&vector)[3]) : x{vector[0], vector[1], vector[2]} {}
  DIFFSIM_FUNCTION void add_to(double* target, int) const {
    for (int c = 0; c < 3; ++c) target[c] += x[c];
  }
};
template <int stride>
DIFFSIM_FUNCTION void gather_vectors(const double* field, const int* index, double (&x)[3]) {
  for (int c = 0; c < 3; ++c) x[c] = field[3 * static_cast<std::ptrdiff_t>(*index) + c];
}

#else

#if defined(__AVX512F__)
inline constexpr int pack_width = 8;
#elif defined(__AVX__)
inline constexpr int pack_width = 4;
#else
inline constexpr int pack_width = 2;
#endif

/// Link-time check of `pack_width`. The library defines the member `doubles` of `LibraryIsCompiledForPacksOf` only for
/// the `pack_width` with which the library was compiled. A program whose compiler options give another `pack_width`
/// than the library's cannot be linked, because the program's array layouts would differ from the library's. Programs
/// must be compiled with the library's -march option. The CMake target diffsim::diffsim passes -march to the programs
/// that link the target if the library is configured with DIFFSIM_ARCH or DIFFSIM_NATIVE, but not if -march is in the
/// library's CMAKE_CXX_FLAGS.
template <int width>
struct LibraryIsCompiledForPacksOf {
  static const char doubles;
};
namespace {
[[gnu::used]] const char* const compiled_for_packs = &LibraryIsCompiledForPacksOf<pack_width>::doubles;
}

/// SIMD register of `pack_width` doubles with the arithmetic operators of a scalar. A function template with the scalar
/// type T processes one element if T = double, and `pack_width` elements at once if T = Pack.
struct Pack {
  using Register [[gnu::vector_size(sizeof(double) * pack_width)]] = double;
  Register value;

  Pack() = default;
  DIFFSIM_FUNCTION Pack(double x) : value(x - Register{}) {}  // NOLINT: implicit, all lanes are equal
  DIFFSIM_FUNCTION explicit Pack(Register x) : value(x) {}

  DIFFSIM_FUNCTION Pack& operator+=(Pack b) {
    value += b.value;
    return *this;
  }
  DIFFSIM_FUNCTION Pack& operator-=(Pack b) {
    value -= b.value;
    return *this;
  }
  DIFFSIM_FUNCTION Pack& operator*=(Pack b) {
    value *= b.value;
    return *this;
  }
  DIFFSIM_FUNCTION Pack& operator/=(Pack b) {
    value /= b.value;
    return *this;
  }
  friend DIFFSIM_FUNCTION Pack operator+(Pack a, Pack b) { return Pack(a.value + b.value); }
  friend DIFFSIM_FUNCTION Pack operator-(Pack a, Pack b) { return Pack(a.value - b.value); }
  friend DIFFSIM_FUNCTION Pack operator*(Pack a, Pack b) { return Pack(a.value * b.value); }
  friend DIFFSIM_FUNCTION Pack operator/(Pack a, Pack b) { return Pack(a.value / b.value); }
  friend DIFFSIM_FUNCTION Pack operator-(Pack a) { return Pack(-a.value); }
};

DIFFSIM_FUNCTION double lane(const Pack& x, int i) { return x.value[i]; }
DIFFSIM_FUNCTION void set_lane(Pack& x, int i, double value) { x.value[i] = value; }
DIFFSIM_FUNCTION double lane(double x, int) { return x; }
DIFFSIM_FUNCTION void set_lane(double& x, int, double value) { x = value; }

/// Returns true if the value in any lane of x is NaN or not greater than `bound`.
DIFFSIM_FUNCTION bool any_not_greater(Pack x, double bound) {
  const auto greater = x.value > (Pack(bound)).value;
  long long all = -1;
  for (int i = 0; i < pack_width; ++i) all &= greater[i];
  return all == 0;
}

/// Returns 1 in the lanes in which x is greater than `bound`, and 0 in all other lanes.
DIFFSIM_FUNCTION Pack indicator_greater(Pack x, double bound) {
  const Pack::Register one = Pack(1.0).value;
  return Pack(x.value > Pack(bound).value ? one : Pack::Register{});
}
DIFFSIM_FUNCTION double indicator_greater(double x, double bound) { return x > bound ? 1.0 : 0.0; }

DIFFSIM_FUNCTION Pack load(const double* source) {
  Pack x;
  __builtin_memcpy(&x.value, source, sizeof(x.value));
  return x;
}
DIFFSIM_FUNCTION void store(double* target, Pack x) { __builtin_memcpy(target, &x.value, sizeof(x.value)); }

/// Gathers the vectors at `pack_width` vertices: lane i of x[c] is field[3 · index[stride · i] + c]. May read one
/// double beyond the last component of the field; the class Field allocates this additional double.
template <int stride>
DIFFSIM_FUNCTION void gather_vectors(const double* field, const int* index, Pack (&x)[3]) {
#if defined(__AVX512F__)
  // Four doubles per vertex are loaded and then transposed, which takes fewer instructions than 24 scalar loads.
  using Row [[gnu::vector_size(32)]] = double;
  Row row[8];
  for (int i = 0; i < 8; ++i)
    __builtin_memcpy(&row[i], field + 3 * static_cast<std::ptrdiff_t>(index[stride * i]), sizeof(Row));
  Pack::Register pair[4];
  for (int i = 0; i < 4; ++i) pair[i] = __builtin_shufflevector(row[i], row[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
  const auto xz01 = __builtin_shufflevector(pair[0], pair[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const auto xz23 = __builtin_shufflevector(pair[2], pair[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const auto y01 = __builtin_shufflevector(pair[0], pair[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const auto y23 = __builtin_shufflevector(pair[2], pair[3], 1, 9, 3, 11, 5, 13, 7, 15);
  x[0].value = __builtin_shufflevector(xz01, xz23, 0, 1, 8, 9, 4, 5, 12, 13);
  x[1].value = __builtin_shufflevector(y01, y23, 0, 1, 8, 9, 4, 5, 12, 13);
  x[2].value = __builtin_shufflevector(xz01, xz23, 2, 3, 10, 11, 6, 7, 14, 15);
#else
  for (int i = 0; i < pack_width; ++i)
    for (int c = 0; c < 3; ++c) set_lane(x[c], i, field[3 * static_cast<std::ptrdiff_t>(index[stride * i]) + c]);
#endif
}

/// Vectors (x[0], x[1], x[2]) of a pack, one per SIMD lane, stored such that `add_to` can add the vector of a single
/// lane to memory. The vectors of several lanes may be added to the same memory location.
struct VectorLanes {
  using Two [[gnu::vector_size(16)]] = double;
  Two xy[pack_width];
  double z[pack_width];

  DIFFSIM_FUNCTION explicit VectorLanes(const Pack (&x)[3]) {
#if defined(__AVX512F__)
    const auto even = __builtin_shufflevector(x[0].value, x[1].value, 0, 8, 2, 10, 4, 12, 6, 14);
    const auto odd = __builtin_shufflevector(x[0].value, x[1].value, 1, 9, 3, 11, 5, 13, 7, 15);
    xy[0] = __builtin_shufflevector(even, even, 0, 1);
    xy[1] = __builtin_shufflevector(odd, odd, 0, 1);
    xy[2] = __builtin_shufflevector(even, even, 2, 3);
    xy[3] = __builtin_shufflevector(odd, odd, 2, 3);
    xy[4] = __builtin_shufflevector(even, even, 4, 5);
    xy[5] = __builtin_shufflevector(odd, odd, 4, 5);
    xy[6] = __builtin_shufflevector(even, even, 6, 7);
    xy[7] = __builtin_shufflevector(odd, odd, 6, 7);
    for (int i = 0; i < pack_width; ++i) z[i] = x[2].value[i];
#else
    for (int i = 0; i < pack_width; ++i) {
      xy[i] = Two{x[0].value[i], x[1].value[i]};
      z[i] = x[2].value[i];
    }
#endif
  }
  /// Adds the components of the vector in lane i to target[0], target[1] and target[2].
  DIFFSIM_FUNCTION void add_to(double* target, int i) const {
    Two sum;
    __builtin_memcpy(&sum, target, sizeof(sum));
    sum += xy[i];
    __builtin_memcpy(target, &sum, sizeof(sum));
    target[2] += z[i];
  }
};

namespace detail {
template <class Function>
DIFFSIM_FUNCTION Pack by_lane(Pack x, Function function) {
  Pack y;
  for (int i = 0; i < pack_width; ++i) y.value[i] = function(x.value[i]);
  return y;
}
}  // namespace detail

DIFFSIM_FUNCTION Pack abs(Pack x) { return Pack(x.value < 0.0 ? -x.value : x.value); }
/// Returns the magnitude of `size` with the sign of `sign`. The values +0 and -0 of the argument `sign` both count as
/// positive.
DIFFSIM_FUNCTION Pack copysign(Pack size, Pack sign) {
  const Pack::Register positive = abs(size).value;
  return Pack(sign.value < 0.0 ? -positive : positive);
}
DIFFSIM_FUNCTION Pack sqrt(Pack x) {
  // SIMD intrinsics are used because std::sqrt, in a loop over lanes, tests for negative arguments in order to set
  // errno.
#if defined(__clang__)
  return Pack(__builtin_elementwise_sqrt(x.value));
#elif defined(__AVX512F__)
  return Pack(Pack::Register(__builtin_ia32_sqrtpd512_mask(x.value, x.value, -1, 4)));
#elif defined(__AVX__)
  return Pack(Pack::Register(__builtin_ia32_sqrtpd256(x.value)));
#elif defined(__SSE2__)
  return Pack(Pack::Register(__builtin_ia32_sqrtpd(x.value)));
#else
  return detail::by_lane(x, [](double a) { return std::sqrt(a); });
#endif
}
DIFFSIM_FUNCTION Pack exp(Pack x) {
  return detail::by_lane(x, [](double a) { return std::exp(a); });
}
DIFFSIM_FUNCTION Pack pow(Pack x, double p) {
  return detail::by_lane(x, [p](double a) { return std::pow(a, p); });
}

/// Returns the cube root of each lane of x; all lanes are computed at once. The start value of Halley's iteration has
/// the bit pattern B/3 + constant, where B is the bit pattern of x as an integer. The start value differs from the cube
/// root by less than 5 %, and each of the three iterations cubes the relative error. The error of the returned cube
/// root is at most 2 ulp. If x is not a positive normal number, the result of `cbrt` is undefined.
DIFFSIM_FUNCTION Pack cbrt(Pack x) {
  using Bits [[gnu::vector_size(sizeof(double) * pack_width)]] = long long;
  const Pack bits(__builtin_convertvector(reinterpret_cast<Bits>(x.value), Pack::Register));
  const Pack third = bits * (1.0 / 3.0) + 715094163.0 * 4294967296.0;
  Pack y(reinterpret_cast<Pack::Register>(__builtin_convertvector(third.value, Bits)));
  for (int i = 0; i < 3; ++i) {
    const Pack cubed = y * y * y;
    y = y + y * ((x - cubed) / (2.0 * cubed + x));
  }
  return y;
}

/// Returns, for each lane, the polar angle of the point (x, y), in [-π, π]; all lanes are computed at once. Coordinates
/// +0 and -0 of the point both count as positive; the polar angle of the point (0, 0) is 0. The angle between the
/// vector (x, y) and the nearer coordinate axis is at most π/4 and is computed as j π/8 + arctan t, where j is 0, 1 or
/// 2, |t| ≤ tan(π/16), and arctan t is computed by its power series up to t^21. The error of the polar angle is at most
/// 4 ulp if |x| + |y| does not overflow.
DIFFSIM_FUNCTION Pack atan2(Pack y, Pack x) {
  using Register = Pack::Register;
  constexpr double pi = 3.14159265358979323846;
  constexpr double tan1 = 0.19891236737965800691, tan2 = 0.41421356237309504880, tan3 = 0.66817863791929891999;
  const Register from_x = abs(x).value, from_y = abs(y).value;
  const auto steep = from_y > from_x;
  const Pack longer(steep ? from_y : from_x), shorter(steep ? from_x : from_y);
  const auto beyond1 = shorter.value > (tan1 * longer).value, beyond3 = shorter.value > (tan3 * longer).value;
  const Register zero{}, one = Pack(1.0).value;
  const Pack tangent(beyond3 ? one : (beyond1 ? Pack(tan2).value : zero));
  const Pack part(beyond3 ? Pack(0.25 * pi).value : (beyond1 ? Pack(0.125 * pi).value : zero));
  const Pack below = longer + tangent * shorter;
  const Pack t = (shorter - tangent * longer) / Pack(below.value == 0.0 ? one : below.value);
  const Pack z = t * t, z2 = z * z, z4 = z2 * z2;
  const Pack low = (-1.0 / 3.0 + 1.0 / 5.0 * z) + (-1.0 / 7.0 + 1.0 / 9.0 * z) * z2;
  const Pack middle = (-1.0 / 11.0 + 1.0 / 13.0 * z) + (-1.0 / 15.0 + 1.0 / 17.0 * z) * z2;
  const Pack high = -1.0 / 19.0 + 1.0 / 21.0 * z;
  const Pack within = part + (t + t * z * (low + z4 * (middle + z4 * high)));
  const Register from_axis = steep ? (0.5 * pi - within).value : within.value;
  return copysign(Pack(x.value < 0.0 ? (pi - Pack(from_axis)).value : from_axis), y);
}

/// Returns the natural logarithm of each lane of x; all lanes are computed at once. With x = 2^k m and m in [√½, √2),
/// ln x = k ln 2 + 2 artanh s, where s = (m-1)/(m+1). artanh s is computed by its power series up to s^23 (Muller,
/// Elementary Functions, ch. 11). The error of ln x is at most 2 ulp for positive normal numbers x. The logarithm is
/// NaN for x < 0, and -inf for x = 0 and for positive subnormal numbers x.
DIFFSIM_FUNCTION Pack log(Pack x) {
  using Bits [[gnu::vector_size(sizeof(double) * pack_width)]] = long long;
  using Unsigned [[gnu::vector_size(sizeof(double) * pack_width)]] = unsigned long long;
  // After the bit pattern of √½ is subtracted from the bit pattern of x, the exponent bits contain k for m in [√½, √2),
  // and a shift extracts k. The type is unsigned, because the signed difference would overflow for x < 0.
  const Unsigned shifted = reinterpret_cast<Unsigned>(x.value) - 0x3fe6a09e667f3bcdULL;
  const Bits exponent = reinterpret_cast<Bits>(shifted) >> 52;
  const Pack m(reinterpret_cast<Pack::Register>((shifted & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL));
  const Pack k(__builtin_convertvector(exponent, Pack::Register));
  const Pack f = m - 1.0;
  const Pack s = f / (m + 1.0);
  const Pack z = s * s;
  // Estrin's scheme: the chain of dependent operations is a quarter as long as in Horner's scheme.
  const Pack z2 = z * z, z4 = z2 * z2;
  const Pack low = (2.0 / 3.0 + 2.0 / 5.0 * z) + (2.0 / 7.0 + 2.0 / 9.0 * z) * z2;
  const Pack middle = (2.0 / 11.0 + 2.0 / 13.0 * z) + (2.0 / 15.0 + 2.0 / 17.0 * z) * z2;
  const Pack high = (2.0 / 19.0 + 2.0 / 21.0 * z) + 2.0 / 23.0 * z2;
  const Pack series = low + z4 * (middle + z4 * high);
  // 2 artanh s = 2 s + s z series, with 2 s = f - s f.
  const Pack ln_m = f - s * (f - z * series);
  constexpr double ln2_high = 0x1.62e42fefa38p-1;
  constexpr double ln2_low = 0x1.ef35793c7673p-45;
  Pack result = k * ln2_high + (ln_m + k * ln2_low);
  const auto normal = (x.value >= 0x1p-1022) & (x.value <= 0x1.fffffffffffffp+1023);
  const auto zero = (x.value >= 0.0) & (x.value < 0x1p-1022);
  const Pack::Register infinity = Pack(__builtin_inf()).value;
  const Pack::Register special = zero ? -infinity : (x.value > 0.0 ? infinity : Pack(__builtin_nan("")).value);
  result.value = normal ? result.value : special;
  return result;
}

#endif

}  // namespace diffsim
