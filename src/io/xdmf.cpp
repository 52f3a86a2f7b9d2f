// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/xdmf.hpp"

#include <algorithm>
#include <cstdio>

namespace diffsim {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string exact_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

class Writer {
 public:
  explicit Writer(const XdmfTrajectory& trajectory) : t_(trajectory), file_(escaped(trajectory.file)) {}

  std::string run() {
    text_ =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
        "<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
        "<Xdmf Version=\"3.0\">\n<Domain>\n"
        "<Grid Name=\"trajectory\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
    for (std::size_t k = 0; k < t_.times.size(); ++k) {
      const std::string step = "step " + std::to_string(t_.steps[k]);
      const std::string time = "<Time Value=\"" + exact_text(t_.times[k]) + "\"/>\n";
      if (t_.bodies.size() == 1 && t_.bodies[0].group.empty()) {
        frame(t_.bodies[0], step, time, k);
        continue;
      }
      text_ += "<Grid Name=\"" + step + "\" GridType=\"Collection\" CollectionType=\"Spatial\">\n" + time;
      for (const XdmfTrajectory::Body& body : t_.bodies) frame(body, escaped(body.name), "", k);
      text_ += "</Grid>\n";
    }
    text_ += "</Grid>\n</Domain>\n</Xdmf>\n";
    return std::move(text_);
  }

 private:
  /// Adds frame k of a body as a grid called `name`. `time` is the XML element with the time, or empty.
  void frame(const XdmfTrajectory::Body& body, const std::string& name, const std::string& time, std::size_t k) {
    text_ += "<Grid Name=\"" + name + "\" GridType=\"Uniform\">\n" + time;
    const std::string cells = std::to_string(body.num_cells), vertices = std::to_string(body.num_vertices);
    const std::string group = escaped(body.group);
    const std::string nodes = std::to_string(body.nodes_per_cell);
    text_ += std::string("<Topology TopologyType=\"") + topology(body.nodes_per_cell) + "\" NumberOfElements=\"" +
             cells + (body.nodes_per_cell < 3 ? "\" NodesPerElement=\"" + nodes : "") + "\">\n";
    text_ += "<DataItem Format=\"HDF\" NumberType=\"Int\" Precision=\"8\" Dimensions=\"" + cells + " " + nodes + "\">" +
             file_ + ":" + group + "/mesh/cells</DataItem>\n</Topology>\n";
    text_ += "<Geometry GeometryType=\"XYZ\">\n";
    const bool moves = std::any_of(t_.fields.begin(), t_.fields.end(), is_position);
    if (moves)
      slab(group + "/positions", vertices, 3, k);
    else
      text_ += "<DataItem Format=\"HDF\" NumberType=\"Float\" Precision=\"8\" Dimensions=\"" + vertices + " 3\">" +
               file_ + ":" + group + "/mesh/vertices</DataItem>\n";
    text_ += "</Geometry>\n";
    for (const auto& field : t_.fields) {
      if (is_position(field)) continue;
      text_ += "<Attribute Name=\"" + escaped(field.name) + "\" AttributeType=\"" + kind(field.components) +
               "\" Center=\"Node\">\n";
      slab(group + "/" + escaped(field.name), vertices, field.components, k);
      text_ += "</Attribute>\n";
    }
    text_ += "</Grid>\n";
  }

  /// Adds frame k of a series as a hyperslab, which XDMF describes by start, stride and size along each dimension. The
  /// XML comment is for VTK's reader, which distinguishes geometry items by the text that they begin with.
  void slab(const std::string& dataset, const std::string& vertices, int components, std::size_t k) {
    const std::string size = vertices + (components == 1 ? "" : " " + std::to_string(components));
    const std::string zeros = components == 1 ? " 0" : " 0 0", ones = components == 1 ? " 1" : " 1 1";
    text_ += "<DataItem ItemType=\"HyperSlab\" Type=\"HyperSlab\" Dimensions=\"" + size + "\">";
    text_ += "<!-- " + file_ + ":" + dataset + " frame " + std::to_string(k) + " -->\n";
    text_ += "<DataItem Format=\"XML\" NumberType=\"Int\" Dimensions=\"3 " + std::string(components == 1 ? "2" : "3") +
             "\">" + std::to_string(k) + zeros + " 1" + ones + " 1 " + size + "</DataItem>\n";
    text_ += "<DataItem Format=\"HDF\" NumberType=\"Float\" Precision=\"8\" Dimensions=\"" +
             std::to_string(t_.times.size()) + " " + size + "\">" + file_ + ":" + dataset +
             "</DataItem>\n</DataItem>\n";
  }

  static const char* topology(int nodes_per_cell) {
    switch (nodes_per_cell) {
      case 1:
        return "Polyvertex";
      case 2:
        return "Polyline";
      case 3:
        return "Triangle";
      case 4:
        return "Tetrahedron";
      default:
        return "Tetrahedron_10";
    }
  }
  static bool is_position(const XdmfTrajectory::Field& field) {
    return field.name == "positions" && field.components == 3;
  }
  static const char* kind(int components) {
    switch (components) {
      case 1:
        return "Scalar";
      case 3:
        return "Vector";
      case 6:
        return "Tensor6";
      case 9:
        return "Tensor";
      default:
        return "Matrix";
    }
  }

  const XdmfTrajectory& t_;
  std::string file_;
  std::string text_;
};

}  // namespace

std::string xdmf_text(const XdmfTrajectory& trajectory) { return Writer(trajectory).run(); }

}  // namespace diffsim
