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

namespace diffsim::testing_mesh {

enum class Encoding { text, little_endian, big_endian };

/// Writer of numbers in the encoding of a Gmsh file.
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
  /// Returns `$Name` … `$EndName`. `head` is text that precedes the numbers.
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

/// Two tetrahedra and one example of everything that the reader must handle: gaps in the node tags, an unused node,
/// parametric nodes, a tetrahedron in two groups, a face inside the body, a triangle in no group, groups of curves and
/// points, a group without a name, a name used in two dimensions, and sections without mesh data. With order 2 there
/// are also nodes on the edges, all at the midpoints except node 107.
class Sample {
 public:
  struct Node {
    int tag;
    std::array<double, 3> position;
  };
  static std::vector<Node> nodes(int order = 1) {
    std::vector<Node> result = {{5, {0, 0, 0}}, {3, {1, 0, 0}},  {12, {0, 1, 0}},
                                {7, {0, 0, 1}}, {40, {1, 1, 1}}, {8, {9, 9, 0.1}}};
    if (order == 1) return result;
    for (const Edge& edge : edges) {
      Node node{edge.node, {}};
      for (const Node& corner : nodes())
        for (std::size_t k = 0; k < 3; ++k)
          if (corner.tag == edge.ends[0] || corner.tag == edge.ends[1]) node.position[k] += 0.5 * corner.position[k];
      if (edge.node == 107) node.position[0] += 0.125;
      result.push_back(node);
    }
    return result;
  }

  struct Element {
    int type;
    int dimension;
    int entity;
    std::vector<int> groups;
    std::vector<int> nodes;
  };

  static std::vector<Element> elements(int order = 1) {
    std::vector<Element> result = {{15, 0, 1, {9}, {40}},         {1, 1, 1, {1}, {5, 3}},
                                   {2, 2, 1, {3}, {5, 12, 3}},    {2, 2, 2, {-4}, {7, 12, 3}},
                                   {2, 2, 3, {}, {5, 3, 7}},      {4, 3, 1, {1, 2}, {5, 3, 12, 7}},
                                   {4, 3, 2, {1}, {3, 12, 7, 40}}};
    for (Element& element : result) {
      if (order == 1 || element.dimension == 0) continue;
      // Gmsh's element types and order of nodes.
      constexpr int types[] = {0, 8, 9, 11};
      constexpr int pairs[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}};
      constexpr int num_pairs[] = {0, 1, 3, 6};
      element.type = types[element.dimension];
      for (int i = 0; i < num_pairs[element.dimension]; ++i) {
        const int a = element.nodes[static_cast<std::size_t>(pairs[i][0])];
        const int b = element.nodes[static_cast<std::size_t>(pairs[i][1])];
        for (const Edge& edge : edges)
          if ((edge.ends[0] == a && edge.ends[1] == b) || (edge.ends[0] == b && edge.ends[1] == a))
            element.nodes.push_back(edge.node);
      }
    }
    return result;
  }

  static std::string names() {
    return "$PhysicalNames\n5\n0 9 \"body\"\n1 1 \"an edge\"\n2 3 \"base\"\n3 1 \"body\"\n3 2 \"half\"\n"
           "$EndPhysicalNames\n";
  }

  /// Returns the sections in the order in which Gmsh writes them.
  static std::vector<std::string> sections_22(Encoding encoding, int order = 1) {
    Encoder points(encoding);
    for (const Node& node : nodes(order)) {
      points.int32(node.tag);
      for (const double x : node.position) points.real(x);
      points.end_line();
    }
    Encoder rows(encoding);
    int number = 0;
    for (const Element& element : elements(order)) {
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
            points.section("Nodes", std::to_string(nodes(order).size()) + "\n"),
            rows.section("Elements", std::to_string(number) + "\n")};
  }

  static std::vector<std::string> sections_41(Encoding encoding, int order = 1) {
    Encoder entities(encoding);
    entities.size(1).size(1).size(3).size(2).end_line();
    for (const Element& element : elements(order)) {
      entities.int32(element.entity);
      for (int k = 0; k < (element.dimension == 0 ? 3 : 6); ++k) entities.real(0.5 * k);
      entities.size(element.groups.size());
      for (const int group : element.groups) entities.int32(group);
      if (element.dimension == 1) entities.size(2).int32(1).int32(-1);
      if (element.dimension > 1) entities.size(0);
      entities.end_line();
    }

    const std::vector<Node> all = nodes(order);
    Encoder points(encoding);
    points.size(2).size(all.size()).size(3).size(order == 1 ? 40 : 109).end_line();
    const auto add_block = [&](int dimension, int parametric, std::size_t first, std::size_t last) {
      points.int32(dimension).int32(1).int32(parametric).size(last - first).end_line();
      for (std::size_t i = first; i < last; ++i) points.size(static_cast<std::uint64_t>(all[i].tag)).end_line();
      for (std::size_t i = first; i < last; ++i) {
        for (const double x : all[i].position) points.real(x);
        for (int k = 0; k < parametric * dimension; ++k) points.real(0.25);
        points.end_line();
      }
    };
    add_block(2, 1, 0, 2);
    add_block(3, 0, 2, all.size());

    Encoder rows(encoding);
    rows.size(elements(order).size()).size(elements(order).size()).size(1).size(elements(order).size()).end_line();
    std::uint64_t number = 0;
    for (const Element& element : elements(order)) {
      rows.int32(element.dimension).int32(element.entity).int32(element.type).size(1).end_line();
      rows.size(++number);
      for (const int node : element.nodes) rows.size(static_cast<std::uint64_t>(node));
      rows.end_line();
    }
    return {format_section("4.1", encoding), names(),
            entities.section("Entities"),    points.section("Nodes"),
            rows.section("Elements"),        "$Periodic\n0\n$EndPeriodic\n"};
  }

  static std::string file(int version, Encoding encoding, int order = 1) {
    return joined(version == 22 ? sections_22(encoding, order) : sections_41(encoding, order));
  }

  static std::string joined(const std::vector<std::string>& sections) {
    std::string content;
    for (const auto& section : sections) content += section;
    return content;
  }

 private:
  struct Edge {
    int ends[2];
    int node;
  };
  static constexpr Edge edges[] = {{{5, 3}, 101},  {{3, 12}, 102}, {{5, 12}, 103},  {{5, 7}, 104}, {{3, 7}, 105},
                                   {{12, 7}, 106}, {{3, 40}, 107}, {{12, 40}, 108}, {{7, 40}, 109}};
};

}  // namespace diffsim::testing_mesh
