// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/gmsh/gmsh_sections.hpp"

#include <algorithm>
#include <string>

namespace diffsim::gmsh {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Returns the error message for a file without `$MeshFormat`. The message names the format that the first bytes of the
/// file suggest.
std::string foreign_format(std::string_view start) {
  struct Signature {
    std::string_view bytes;
    const char* format;
  };
  constexpr Signature signatures[] = {{"# vtk", "a legacy VTK file"},
                                      {"<VTKFile", "a VTK XML file"},
                                      {"<?xml", "an XML file"},
                                      {"solid", "an STL file"},
                                      {"\x89HDF", "an HDF5 file"},
                                      {"CDF", "a NetCDF file"},
                                      {"ply", "a PLY file"},
                                      {"OFF", "an OFF file"},
                                      {"MeshVersionFormatted", "a Medit file"},
                                      {"*", "an Abaqus input file"},
                                      {"\x1f\x8b", "compressed by gzip; unpack it first"},
                                      {"$NOD", "a Gmsh 1.0 file"}};
  for (const Signature& signature : signatures)
    if (start.substr(0, signature.bytes.size()) == signature.bytes)
      return std::string("not a Gmsh 2.2 or 4.1 mesh: it looks like ") + signature.format;
  return "not a Gmsh mesh: it begins with " + in_quotes(start.substr(0, 16)) + ", not with $MeshFormat";
}

class SectionFinder {
 public:
  explicit SectionFinder(const Document& document) : document_(document), content_(document.content) {}

  /// Moves to the next section. Returns false at the end of the file.
  bool next(Section& section) {
    const std::size_t header = content_.find_first_not_of(blanks, cursor_);
    if (header == std::string_view::npos) return false;
    const std::size_t line_end = std::min(content_.find('\n', header), content_.size());
    const std::string_view line = trimmed(content_.substr(header, line_end - header));
    if (line.front() != '$')
      document_.fail(header, "expected a section ($Nodes, $Elements, …), found " + in_quotes(line) +
                                 "; remove it, or get the whole file again");
    section = {line.substr(1), header, std::min(line_end + 1, content_.size()), 0};
    if (section.name.empty() || section.name.find_first_of(blanks) != std::string_view::npos ||
        section.name.substr(0, 3) == "End")
      document_.fail(header, in_quotes(line) + " does not begin a section; correct it, or get the whole file again");
    const std::string marker = "$End" + std::string(section.name);
    section.end = find_marker(marker, section.begin);
    if (section.end == std::string_view::npos)
      document_.fail(header, "section $" + printable(section.name) + " has no " + printable(marker) +
                                 "; the file is cut short: get the whole file again");
    cursor_ = section.end + marker.size();
    return true;
  }

 private:
  static std::string_view trimmed(std::string_view text) { return text.substr(0, text.find_last_not_of(blanks) + 1); }
  static std::string printable(std::string_view text) {
    const std::string safe = in_quotes(text);
    return safe.substr(1, safe.size() - 2);
  }

  /// Returns the offset of an end marker. In text files the marker must be alone on its line. In binary files the
  /// marker must end a line but can follow binary data.
  std::size_t find_marker(const std::string& marker, std::size_t from) const {
    std::size_t at = content_.find(marker, from);
    for (; at != std::string_view::npos; at = content_.find(marker, at + 1)) {
      const std::size_t after = content_.find_first_not_of(" \t\r", at + marker.size());
      if (after != std::string_view::npos && content_[after] != '\n') continue;
      if (document_.binary) return at;
      const std::size_t before = content_.find_last_not_of(" \t", at - 1);
      if (before == std::string_view::npos || content_[before] == '\n') return at;
    }
    return at;
  }

  const Document& document_;
  std::string_view content_;
  std::size_t cursor_ = 0;
};

int read_format(Document& document, const Section& section) {
  TextSource in(document, section);
  in.begin_record("version");
  const double version = in.real("the format version");
  if (version != 2.2 && version != 4.1)
    in.fail("Gmsh format version " + in_quotes(in.token()) +
            " is not read; save the mesh as 2.2 or 4.1 (in Gmsh: -format msh41)");
  const auto file_type = in.int32("the file type (0: ASCII, 1: binary)");
  if (file_type != 0 && file_type != 1)
    in.fail("file type " + std::to_string(file_type) + " does not exist; 0 is ASCII, 1 is binary");
  const auto data_size = in.int32("the data size");
  if (data_size != 8)
    in.fail("data size " + std::to_string(data_size) + " is not read; save the mesh with 8-byte numbers");
  in.end_record();
  if (file_type == 1) {
    constexpr std::uint32_t one = 1, swapped_one = 0x01000000;
    BinarySource binary(document, section, in.position());
    const auto mark = static_cast<std::uint32_t>(binary.int32("the byte-order mark"));
    document.binary = true;
    document.swap_bytes = mark == swapped_one;
    if (mark != one && mark != swapped_one)
      binary.fail("the number that shows the byte order is not 1; get the whole file again (in binary mode)");
    binary.finish("lines");
  } else {
    in.finish("lines");
  }
  return version == 2.2 ? 22 : 41;
}

}  // namespace

Contents find_sections(Document& document) {
  const std::size_t start = document.content.find_first_not_of(blanks);
  if (start == std::string_view::npos) document.fail(0, "the file is empty; give a Gmsh 2.2 or 4.1 mesh");
  const std::string_view text = document.content.substr(start);
  if (text.front() != '$' || text.substr(0, 4) == "$NOD")
    document.fail(start, foreign_format(text) + "; save it as Gmsh 4.1 (`gmsh FILE -save -format msh41`)");

  Contents contents;
  const std::pair<std::string_view, Section*> known[] = {{"PhysicalNames", &contents.physical_names},
                                                         {"Entities", &contents.entities},
                                                         {"Nodes", &contents.nodes},
                                                         {"Elements", &contents.elements}};
  SectionFinder finder(document);
  for (Section section; finder.next(section);) {
    if (section.name == "MeshFormat") {
      if (contents.version != 0) document.fail(section.header, "a second $MeshFormat; keep one");
      contents.version = read_format(document, section);
    }
    if (section.name == "PartitionedEntities") contents.partitioned = true;
    for (const auto& [name, place] : known) {
      if (section.name != name) continue;
      if (contents.version == 0)
        document.fail(section.header, "$" + std::string(name) + " comes before $MeshFormat; put that first");
      if (!place->name.empty()) document.fail(section.header, "a second $" + std::string(name) + "; keep one");
      *place = section;
    }
  }
  if (contents.version == 0)
    document.fail(start, "no $MeshFormat section; this is not a Gmsh 2.2 or 4.1 mesh, save it as one");
  if (contents.nodes.name.empty()) document.fail(start, "no $Nodes section; save the mesh with its nodes");
  if (contents.elements.name.empty()) document.fail(start, "no $Elements section; save the mesh with its elements");
  return contents;
}

}  // namespace diffsim::gmsh
