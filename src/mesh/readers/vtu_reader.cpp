// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Reader of VTK's XML format for unstructured grids, which is defined in The VTK User's Guide, "XML File Formats".
#include "mesh/readers/vtu_reader.hpp"

#include <tinyxml2.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "diffsim/core/error.hpp"
#include "mesh/mesh_text.hpp"
#include "mesh/readers/vtu_array.hpp"
#include "mesh/readers/vtu_cells.hpp"

namespace diffsim {
namespace {

using tinyxml2::XMLElement;

class VtuParser {
 public:
  VtuParser(std::string_view content, const std::string& file, double scale, vtu::Grid& grid)
      : content_(content), file_(file), scale_(scale), grid_(grid) {}

  void run();

 private:
  [[noreturn]] void fail(long line, const std::string& what) const { throw InputError(file_, line, "", what); }
  std::string attribute(const XMLElement& element, const char* name, const char* otherwise = nullptr) const;
  std::int64_t count(const XMLElement& element, const char* name) const;
  const XMLElement& child(const XMLElement& element, const char* name) const;
  const XMLElement& array_of(const XMLElement& element, const char* name) const;
  vtu::Array array(const XMLElement& element) const;
  void parse_xml();
  void read_encoding(const XMLElement& root);
  void read_piece(const XMLElement& piece);
  void read_points(const XMLElement& piece, std::int64_t num_points);
  void read_cells(const XMLElement& piece, std::int64_t num_points, std::int64_t num_cells);
  void read_region_arrays(const XMLElement* data, std::size_t begin, std::size_t end, vtu::Grid::Arrays& arrays) const;

  std::string_view content_;
  const std::string& file_;
  double scale_;
  vtu::Grid& grid_;
  tinyxml2::XMLDocument document_;
  vtu::Encoding encoding_;
  std::string_view appended_;  // appended data, from the first byte after the underscore
  bool appended_base64_ = false, has_appended_ = false;
};

std::string VtuParser::attribute(const XMLElement& element, const char* name, const char* otherwise) const {
  if (const char* value = element.Attribute(name)) return value;
  if (!otherwise) fail(element.GetLineNum(), std::string(element.Name()) + " needs the attribute " + name);
  return otherwise;
}

std::int64_t VtuParser::count(const XMLElement& element, const char* name) const {
  std::int64_t value = 0;
  const std::string text = attribute(element, name);
  // Reject numbers above 48 bits, which cannot be valid counts.
  if (!tinyxml2::XMLUtil::ToInt64(text.c_str(), &value) || value < 0 || value >> 48 != 0)
    fail(element.GetLineNum(), std::string(name) + " is " + in_quotes(text) + "; give a number from 0 on");
  return value;
}

const XMLElement& VtuParser::child(const XMLElement& element, const char* name) const {
  const XMLElement* found = element.FirstChildElement(name);
  if (!found) fail(element.GetLineNum(), std::string(element.Name()) + " has no " + name + "; save the file again");
  return *found;
}

const XMLElement& VtuParser::array_of(const XMLElement& element, const char* name) const {
  for (const XMLElement* item = element.FirstChildElement("DataArray"); item;
       item = item->NextSiblingElement("DataArray"))
    if (item->Attribute("Name", name)) return *item;
  fail(element.GetLineNum(), std::string(element.Name()) + " has no array " + name + "; save the file again");
}

vtu::Array VtuParser::array(const XMLElement& element) const {
  vtu::Array array;
  array.file = file_;
  array.line = element.GetLineNum();
  array.name = attribute(element, "Name", element.Parent()->Value());
  const std::string type = attribute(element, "type"), format = attribute(element, "format", "ascii");
  array.type = vtu::find_number_type(type);
  if (!array.type) array.fail("its type " + in_quotes(type) + " is not a number type");
  array.encoding = encoding_;
  const char* text = element.GetText();
  array.data = text ? text : "";
  if (format == "ascii") return array;
  array.format = vtu::Array::Format::base64;
  if (format == "binary") return array;
  if (format != "appended") array.fail("its format is " + in_quotes(format) + "; use ascii, binary or appended");
  if (!has_appended_) array.fail("is appended, and the file has no AppendedData; get the whole file again");
  const std::int64_t offset = count(element, "offset");
  if (offset > static_cast<std::int64_t>(appended_.size()))
    array.fail("begins at byte " + std::to_string(offset) +
               " of the appended data, which are shorter; get the whole "
               "file again");
  array.data = appended_.substr(static_cast<std::size_t>(offset));
  if (!appended_base64_) array.format = vtu::Array::Format::raw;
  return array;
}

/// Parses the XML except the contents of AppendedData, which may be arbitrary bytes.
void VtuParser::parse_xml() {
  std::string xml;
  std::string_view text = content_;
  const std::size_t tag = content_.find("<AppendedData"), end = content_.find('>', std::min(tag, content_.size()));
  if (end != std::string_view::npos && content_[end - 1] != '/') {
    xml = std::string(content_.substr(0, end + 1)) + "</AppendedData></VTKFile>";
    text = xml;
    has_appended_ = true;
    const std::size_t begin = content_.find('_', end);
    if (begin == std::string_view::npos) fail(0, "its AppendedData do not begin with _; get the whole file again");
    appended_ = content_.substr(begin + 1);
  }
  if (document_.Parse(text.data(), text.size()) == tinyxml2::XML_SUCCESS) return;
  fail(document_.ErrorLineNum(), std::string("is not XML, or is truncated (") + document_.ErrorName() +
                                     "); give a .vtu file that VTK or ParaView can open");
}

void VtuParser::read_encoding(const XMLElement& root) {
  const std::string order = attribute(root, "byte_order", "LittleEndian");
  if (order != "LittleEndian" && order != "BigEndian")
    fail(root.GetLineNum(), "byte_order is " + in_quotes(order) + "; it is LittleEndian or BigEndian");
  encoding_.swap_bytes = (order == "BigEndian") == (std::endian::native == std::endian::little);
  const std::string size = attribute(root, "header_type", "UInt32");
  if (size != "UInt32" && size != "UInt64")
    fail(root.GetLineNum(), "header_type is " + in_quotes(size) + "; it is UInt32 or UInt64");
  encoding_.header_bytes = size == "UInt64" ? 8 : 4;
  const std::string compressor = attribute(root, "compressor", "");
  encoding_.zlib = compressor == "vtkZLibDataCompressor";
  if (!encoding_.zlib && !compressor.empty())
    fail(root.GetLineNum(), "is compressed by " + in_quotes(compressor) + "; save it with ZLib or without compression");
  if (const XMLElement* appended = root.FirstChildElement("AppendedData")) {
    const std::string encoding = attribute(*appended, "encoding", "base64");
    appended_base64_ = encoding == "base64";
    if (!appended_base64_ && encoding != "raw")
      fail(appended->GetLineNum(), "the encoding of AppendedData is " + in_quotes(encoding) + "; it is raw or base64");
  }
}

void VtuParser::read_points(const XMLElement& piece, std::int64_t num_points) {
  const XMLElement& points = child(child(piece, "Points"), "DataArray");
  const vtu::Array coordinates = array(points);
  if (attribute(points, "NumberOfComponents", "1") != "3") coordinates.fail("points need NumberOfComponents=\"3\"");
  for (const double x : coordinates.reals(3 * static_cast<std::size_t>(num_points))) {
    const double scaled = scale_ * x;
    if (!std::isfinite(scaled)) coordinates.fail("a coordinate is not finite; give numbers");
    grid_.coordinates.push_back(scaled);
  }
}

void VtuParser::read_cells(const XMLElement& piece, std::int64_t num_points, std::int64_t num_cells) {
  const XMLElement& cells = child(piece, "Cells");
  const vtu::Array end_array = array(array_of(cells, "offsets")), node_array = array(array_of(cells, "connectivity"));
  const auto number = static_cast<std::size_t>(num_cells);
  const std::vector<std::int64_t> ends = end_array.integers(number),
                                  types = array(array_of(cells, "types")).integers(number);
  for (std::size_t c = 0; c < ends.size(); ++c)
    if (ends[c] < (c == 0 ? 0 : ends[c - 1]))
      end_array.fail("falls at cell " + std::to_string(c) + "; save the file again");
  const auto num_nodes = ends.empty() ? std::size_t{0} : static_cast<std::size_t>(ends.back());
  const auto first_point = static_cast<std::int64_t>(grid_.coordinates.size() / 3) - num_points,
             first_node = static_cast<std::int64_t>(grid_.connectivity.size());
  for (const std::int64_t point : node_array.integers(num_nodes)) {
    if (point < 0 || point >= num_points)
      node_array.fail("has point " + std::to_string(point) + ", and there are " + std::to_string(num_points) +
                      " of them, counted from 0; correct the number");
    grid_.connectivity.push_back(first_point + point);
  }
  for (const std::int64_t end : ends) grid_.ends.push_back(first_node + end);
  grid_.types.insert(grid_.types.end(), types.begin(), types.end());
}

/// Reads the integer arrays with one component into `arrays`. The entries `begin` … `end` - 1 of each array belong to
/// the current piece.
void VtuParser::read_region_arrays(const XMLElement* data, std::size_t begin, std::size_t end,
                                   vtu::Grid::Arrays& arrays) const {
  for (const XMLElement* item = data ? data->FirstChildElement("DataArray") : nullptr; item && begin < end;
       item = item->NextSiblingElement("DataArray")) {
    const vtu::NumberType* type = vtu::find_number_type(attribute(*item, "type"));
    if (!type || type->kind == 'f' || attribute(*item, "NumberOfComponents", "1") != "1") continue;
    const vtu::Array numbers = array(*item);
    std::vector<std::int64_t>& values = arrays[numbers.name];
    if (values.size() == end) numbers.fail("is given twice; rename one");
    values.resize(begin, vtu::Grid::no_value);
    const std::vector<std::int64_t> more = numbers.integers(end - begin);
    values.insert(values.end(), more.begin(), more.end());
  }
  for (auto& [name, values] : arrays) values.resize(end, vtu::Grid::no_value);
}

void VtuParser::read_piece(const XMLElement& piece) {
  const std::int64_t num_points = count(piece, "NumberOfPoints"), num_cells = count(piece, "NumberOfCells");
  const std::size_t first_point = grid_.coordinates.size() / 3, first_cell = grid_.types.size();
  read_points(piece, num_points);
  read_cells(piece, num_points, num_cells);
  read_region_arrays(piece.FirstChildElement("PointData"), first_point, grid_.coordinates.size() / 3,
                     grid_.point_arrays);
  read_region_arrays(piece.FirstChildElement("CellData"), first_cell, grid_.types.size(), grid_.cell_arrays);
}

void VtuParser::run() {
  parse_xml();
  const XMLElement* root = document_.FirstChildElement("VTKFile");
  if (!root) fail(0, "is not a file in VTK's XML format: it has no element VTKFile; give a .vtu file");
  const std::string type = attribute(*root, "type");
  if (type != "UnstructuredGrid")
    fail(root->GetLineNum(), "is of type " + in_quotes(type) + "; give a file of type UnstructuredGrid (.vtu)");
  read_encoding(*root);
  const XMLElement& grid = child(*root, "UnstructuredGrid");
  for (const XMLElement* piece = &child(grid, "Piece"); piece; piece = piece->NextSiblingElement("Piece"))
    read_piece(*piece);
}

std::string how_to_save(CellKind kind) {
  return kind == CellKind::tetrahedron ? "save a mesh of the volume, in tetrahedra"
                                       : std::string("save a mesh with ") + name_of(kind);
}

std::string how_to_split(CellKind kind) {
  return std::string(" (in ParaView: the filter ") +
         (kind == CellKind::tetrahedron ? "Tetrahedralize)" : "Triangulate)");
}

}  // namespace

MeshData parse_vtu(std::string_view content, const std::string& name_for_errors, double scale,
                   bool allow_coincident_vertices, int order, CellKind kind) {
  check_scale(scale);
  vtu::Grid grid;
  VtuParser(content, name_for_errors, scale, grid).run();
  const RawPlaces places{name_for_errors,
                         [](std::size_t cell) {
                           return FilePlace{0, "cell " + std::to_string(cell) + " of the file"};
                         },
                         {},
                         "region",
                         how_to_save,
                         how_to_split};
  RawMeshBuilder builder(places, order, kind);
  vtu::choose_cells(grid, builder);
  return assemble_mesh(builder.take(std::move(grid.coordinates)), kind, allow_coincident_vertices, places);
}

MeshData read_vtu(const std::string& path, double scale, bool allow_coincident_vertices, int order, CellKind kind) {
  return parse_vtu(read_whole_file(path), path, scale, allow_coincident_vertices, order, kind);
}

}  // namespace diffsim
