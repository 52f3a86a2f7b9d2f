// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace diffsim::testing {

enum class Encoding { text, little_endian, big_endian };

/// Writes numbers the way a Gmsh file of that encoding does.
class Encoder {
 public:
  explicit Encoder(Encoding encoding) : encoding_(encoding) {}

  Encoder& int32(std::int32_t value) { return put(value); }
  Encoder& size(std::uint64_t value) { return put(value); }
  Encoder& real(double value) { return put(value); }
  Encoder& end_line() {
    if (encoding_ == Encoding::text) bytes_ += '\n';
    return *this;
  }
  /// `$Name` … `$EndName`; `head` goes before the numbers as text.
  std::string section(const std::string& name, const std::string& head = "") const {
    const char* gap = encoding_ == Encoding::text ? "" : "\n";
    return "$" + name + "\n" + head + bytes_ + gap + "$End" + name + "\n";
  }

 private:
  template <class Number>
  Encoder& put(Number value) {
    if (encoding_ == Encoding::text) {
      char text[32];
      const auto end = std::to_chars(text, text + sizeof text, value).ptr;
      if (!bytes_.empty() && bytes_.back() != '\n') bytes_ += ' ';
      bytes_.append(text, end);
    } else {
      char raw[sizeof value];
      std::memcpy(raw, &value, sizeof raw);
      constexpr bool native_is_little = std::endian::native == std::endian::little;
      if (native_is_little != (encoding_ == Encoding::little_endian)) std::reverse(raw, raw + sizeof raw);
      bytes_.append(raw, sizeof raw);
    }
    return *this;
  }

  Encoding encoding_;
  std::string bytes_;
};

inline std::string format_section(const std::string& version, Encoding encoding) {
  if (encoding == Encoding::text) return "$MeshFormat\n" + version + " 0 8\n$EndMeshFormat\n";
  return Encoder(encoding).int32(1).section("MeshFormat", version + " 1 8\n");
}

/// Two tetrahedra and one of everything that the reader should cope with: gaps in the node tags, an unused node,
/// parametric nodes, a tetrahedron in two groups, a face inside the body, a triangle of no group, groups of curves and
/// points, a group without name, a name used in two dimensions, and sections that hold no mesh.
class Sample {
 public:
  static constexpr std::array<int, 6> tags = {5, 3, 12, 7, 40, 8};
  static constexpr double positions[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {9, 9, 0.1}};

  struct Element {
    int type;
    int dimension;
    int entity;
    std::vector<int> groups;
    std::vector<int> nodes;
  };

  static std::vector<Element> elements() {
    return {{15, 0, 1, {9}, {40}},         {1, 1, 1, {1}, {5, 3}},   {2, 2, 1, {3}, {5, 12, 3}},
            {2, 2, 2, {-4}, {7, 12, 3}},   {2, 2, 3, {}, {5, 3, 7}}, {4, 3, 1, {1, 2}, {5, 3, 12, 7}},
            {4, 3, 2, {1}, {3, 12, 7, 40}}};
  }

  static std::string names() {
    return "$PhysicalNames\n5\n0 9 \"body\"\n1 1 \"an edge\"\n2 3 \"base\"\n3 1 \"body\"\n3 2 \"half\"\n"
           "$EndPhysicalNames\n";
  }

  /// The sections, in the order Gmsh writes them.
  static std::vector<std::string> sections_22(Encoding encoding) {
    Encoder nodes(encoding);
    for (std::size_t i = 0; i < tags.size(); ++i) {
      nodes.int32(tags[i]);
      for (const double x : positions[i]) nodes.real(x);
      nodes.end_line();
    }
    Encoder rows(encoding);
    int number = 0;
    for (const Element& element : elements()) {
      const auto groups = element.groups.empty() ? std::vector<int>{0} : element.groups;
      for (const int group : groups) {
        ++number;
        if (encoding == Encoding::text) {
          rows.int32(number).int32(element.type).int32(2);
        } else {
          rows.int32(element.type).int32(1).int32(2).int32(number);
        }
        rows.int32(group).int32(element.entity);
        for (const int node : element.nodes) rows.int32(node);
        rows.end_line();
      }
    }
    return {format_section("2.2", encoding), "$Comments\nnot $Nodes\n$EndComments\n", names(),
            nodes.section("Nodes", "6\n"), rows.section("Elements", std::to_string(number) + "\n")};
  }

  static std::vector<std::string> sections_41(Encoding encoding) {
    Encoder entities(encoding);
    entities.size(1).size(1).size(3).size(2).end_line();
    for (const Element& element : elements()) {
      entities.int32(element.entity);
      for (int k = 0; k < (element.dimension == 0 ? 3 : 6); ++k) entities.real(0.5 * k);
      entities.size(element.groups.size());
      for (const int group : element.groups) entities.int32(group);
      if (element.dimension == 1) entities.size(2).int32(1).int32(-1);
      if (element.dimension > 1) entities.size(0);
      entities.end_line();
    }

    Encoder nodes(encoding);
    nodes.size(2).size(6).size(3).size(40).end_line();
    const auto add_block = [&](int dimension, int parametric, std::size_t first, std::size_t last) {
      nodes.int32(dimension).int32(1).int32(parametric).size(last - first).end_line();
      for (std::size_t i = first; i < last; ++i) nodes.size(static_cast<std::uint64_t>(tags[i])).end_line();
      for (std::size_t i = first; i < last; ++i) {
        for (const double x : positions[i]) nodes.real(x);
        for (int k = 0; k < parametric * dimension; ++k) nodes.real(0.25);
        nodes.end_line();
      }
    };
    add_block(2, 1, 0, 2);
    add_block(3, 0, 2, 6);

    Encoder rows(encoding);
    rows.size(elements().size()).size(elements().size()).size(1).size(elements().size()).end_line();
    std::uint64_t number = 0;
    for (const Element& element : elements()) {
      rows.int32(element.dimension).int32(element.entity).int32(element.type).size(1).end_line();
      rows.size(++number);
      for (const int node : element.nodes) rows.size(static_cast<std::uint64_t>(node));
      rows.end_line();
    }
    return {format_section("4.1", encoding), names(),
            entities.section("Entities"),    nodes.section("Nodes"),
            rows.section("Elements"),        "$Periodic\n0\n$EndPeriodic\n"};
  }

  static std::string file(int version, Encoding encoding) {
    return joined(version == 22 ? sections_22(encoding) : sections_41(encoding));
  }

  static std::string joined(const std::vector<std::string>& sections) {
    std::string content;
    for (const auto& section : sections) content += section;
    return content;
  }
};

}  // namespace diffsim::testing
