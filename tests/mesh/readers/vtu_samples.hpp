// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Writer of files in VTK's XML format, in every encoding of the format.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace diffsim::testing_mesh {

/// Encoding of a file.
struct VtuForm {
  enum class Format { ascii, binary, appended_raw, appended_base64 };
  Format format = Format::ascii;
  bool zlib = false;
  int header_bytes = 4;
  bool big_endian = false;
  std::string reals = "Float64", integers = "Int64", types = "UInt8";
  std::size_t block_size = 32;
};

inline std::string base64(const std::string& bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[bits >> (18 - 6 * k) & 63];
  }
  return text;
}

class VtuWriter {
 public:
  explicit VtuWriter(const VtuForm& form) : form_(form) {}

  std::string array(const std::string& name, const std::string& type, const std::vector<double>& values,
                    int components = 1) {
    std::string text = "<DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" +
                       std::to_string(components) + "\" format=\"";
    if (form_.format == VtuForm::Format::ascii) {
      std::ostringstream numbers;
      numbers.precision(17);
      for (const double value : values) numbers << value << '\n';
      return text + "ascii\">\n" + numbers.str() + "</DataArray>\n";
    }
    const std::string data = encode(bytes_of(type, values));
    if (form_.format == VtuForm::Format::binary) return text + "binary\">\n  " + data + "\n</DataArray>\n";
    text += "appended\" offset=\"" + std::to_string(appended_.size()) + "\"/>\n";
    appended_ += data;
    return text;
  }

  std::string piece(const std::vector<double>& points, const std::vector<std::vector<int>>& cells,
                    const std::vector<int>& types, const std::string& cell_data = "",
                    const std::string& point_data = "") {
    std::vector<double> nodes, ends, kinds(types.begin(), types.end());
    for (const std::vector<int>& cell : cells) {
      nodes.insert(nodes.end(), cell.begin(), cell.end());
      ends.push_back(static_cast<double>(nodes.size()));
    }
    std::string text = "<Piece NumberOfPoints=\"" + std::to_string(points.size() / 3) + "\" NumberOfCells=\"" +
                       std::to_string(cells.size()) + "\">\n<PointData>" + point_data + "</PointData><CellData>" +
                       cell_data + "</CellData>\n";
    text += "<Points>" + array("Points", form_.reals, points, 3) + "</Points>\n<Cells>";
    text += array("connectivity", form_.integers, nodes);
    text += array("offsets", form_.integers, ends);
    return text + array("types", form_.types, kinds) + "</Cells>\n</Piece>\n";
  }

  std::string file(const std::string& pieces) const {
    std::string text = std::string("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" ") +
                       "byte_order=\"" + (form_.big_endian ? "BigEndian" : "LittleEndian") + "\" header_type=\"UInt" +
                       std::to_string(8 * form_.header_bytes) + "\"" +
                       (form_.zlib ? " compressor=\"vtkZLibDataCompressor\"" : "") + ">\n<UnstructuredGrid>\n" +
                       pieces + "</UnstructuredGrid>\n";
    if (!appended_.empty())
      text += std::string("<AppendedData encoding=\"") +
              (form_.format == VtuForm::Format::appended_raw ? "raw" : "base64") + "\">\n _" + appended_ +
              "\n</AppendedData>\n";
    return text + "</VTKFile>\n";
  }

 private:
  template <class Number>
  std::string bytes(Number value) const {
    const char* begin = reinterpret_cast<const char*>(&value);
    std::string text(begin, begin + sizeof(Number));
    if (form_.big_endian == (std::endian::native == std::endian::little)) std::reverse(text.begin(), text.end());
    return text;
  }
  std::string number(const std::string& type, double value) const {
    if (type == "Float32") return bytes(static_cast<float>(value));
    if (type == "Float64") return bytes(value);
    if (type == "Int8") return bytes(static_cast<std::int8_t>(value));
    if (type == "UInt8") return bytes(static_cast<std::uint8_t>(value));
    if (type == "Int16") return bytes(static_cast<std::int16_t>(value));
    if (type == "UInt16") return bytes(static_cast<std::uint16_t>(value));
    if (type == "Int32") return bytes(static_cast<std::int32_t>(value));
    if (type == "UInt32") return bytes(static_cast<std::uint32_t>(value));
    if (type == "Int64") return bytes(static_cast<std::int64_t>(value));
    if (type == "UInt64") return bytes(static_cast<std::uint64_t>(value));
    throw std::runtime_error("no type of numbers: " + type);
  }
  std::string bytes_of(const std::string& type, const std::vector<double>& values) const {
    std::string text;
    for (const double value : values) text += number(type, value);
    return text;
  }
  std::string header(std::size_t value) const {
    return form_.header_bytes == 8 ? bytes(static_cast<std::uint64_t>(value))
                                   : bytes(static_cast<std::uint32_t>(value));
  }
  /// Returns the encoded data of one array, as VTK writes it: the header of a compressed array is encoded separately
  /// from its blocks.
  std::string encode(const std::string& data) const {
    const bool raw = form_.format == VtuForm::Format::appended_raw;
    const auto text = [raw](const std::string& what) { return raw ? what : base64(what); };
    if (!form_.zlib) return text(header(data.size()) + data);
    const std::size_t whole = data.size() / form_.block_size, rest = data.size() % form_.block_size;
    std::string heads = header(whole + (rest > 0 ? 1 : 0)) + header(form_.block_size) + header(rest), blocks;
    for (std::size_t begin = 0; begin < data.size(); begin += form_.block_size) {
      const std::string block = data.substr(begin, form_.block_size);
      std::string packed(compressBound(block.size()), '\0');
      uLongf length = packed.size();
      compress(reinterpret_cast<Bytef*>(packed.data()), &length, reinterpret_cast<const Bytef*>(block.data()),
               block.size());
      heads += header(length);
      blocks += packed.substr(0, length);
    }
    return text(heads) + text(blocks);
  }

  VtuForm form_;
  std::string appended_;
};

/// Five points of two tetrahedra in the regions 3 and 7.
inline const std::vector<double> two_cells_points = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1.5, 1, 1};

inline std::string two_cells_file(const VtuForm& form) {
  VtuWriter writer(form);
  const std::string regions = writer.array("region", form.integers, {3, 7});
  return writer.file(writer.piece(two_cells_points, {{0, 1, 2, 3}, {1, 4, 2, 3}}, {10, 10}, regions));
}

/// Returns every encoding of the format, with every type of number in some of the encodings.
inline std::vector<VtuForm> all_vtu_forms() {
  using Format = VtuForm::Format;
  const std::string integers[] = {"Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64"};
  std::vector<VtuForm> forms;
  for (const Format format : {Format::ascii, Format::binary, Format::appended_raw, Format::appended_base64})
    for (const bool zlib : {false, true})
      for (const int header_bytes : {4, 8})
        for (const bool big_endian : {false, true})
          for (const char* reals : {"Float32", "Float64"})
            for (const std::string& type : integers)
              forms.push_back({format, zlib, header_bytes, big_endian, reals, type, type, 24});
  return forms;
}

}  // namespace diffsim::testing_mesh
