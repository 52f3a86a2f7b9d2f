// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "mesh/mesh_text.hpp"
#include "mesh/validate.hpp"

namespace diffsim::gmsh {

/// Section `$Name` … `$EndName` of a Gmsh file. The offsets in a Section are counted in bytes from the start of the
/// file.
struct Section {
  std::string_view name;
  std::size_t header = 0;  ///< byte offset of the `$` of the header line `$Name`
  std::size_t begin = 0;   ///< byte offset of the line after the header line `$Name`
  std::size_t end = 0;     ///< byte offset of the `$` of the end marker `$EndName`
};

/// Contents of a whole Gmsh file in memory.
struct Document {
  std::string_view content;
  std::string name;
  bool binary = false;
  bool swap_bytes = false;  ///< true if the file's byte order differs from this machine's byte order

  long line_of(std::size_t offset) const;
  /// Returns the location of a byte of a section for messages: in a text file, the line; in a binary file, the line of
  /// the section's header and the byte offset.
  FilePlace place(const Section& section, std::size_t offset) const;
  /// Throws InputError that names the line of the byte at `offset`, which must be in a text part of the file.
  [[noreturn]] void fail(std::size_t offset, const std::string& what) const;
  /// Throws InputError that names the location returned by place(section, offset).
  [[noreturn]] void fail(const Section& section, std::size_t offset, const std::string& what) const;
};

/// Reader for the numbers in a section of a text file. The data of a node, of an element or of a block header form a
/// record, which is one line of the file.
///
/// TextSource and BinarySource have a common interface, so that one function template can parse sections whose layout
/// is the same in text and binary files. The argument `what` of a member function describes the expected value, for
/// error messages. Member functions that read a value throw InputError if the section ends before the value.
class TextSource {
 public:
  /// Minimum number of bytes that a value occupies in a text file.
  static constexpr std::size_t int_bytes = 1, size_bytes = 1, real_bytes = 1;

  TextSource(const Document& document, const Section& section)
      : document_(&document),
        section_(&section),
        begin_(document.content.data()),
        cursor_(begin_ + section.begin),
        token_(cursor_),
        end_(begin_ + section.end) {}

  /// Moves the read position to the next line that is not blank. Throws InputError if the rest of the section is blank.
  /// `what`, `index`, `count`: name of the records, index of the record and number of records, for error messages.
  void begin_record(const char* what, std::int64_t index = 0, std::int64_t count = 1);
  /// Moves the read position to the next line. Throws InputError if the rest of the current line is not blank.
  void end_record();
  /// Throws InputError unless the rest of the section is blank.
  void finish(const char* what);

  std::int32_t int32(const char* what) { return number<std::int32_t>(what); }
  std::int64_t size(const char* what) {
    const auto value = number<std::int64_t>(what);
    if (value < 0) fail_value(what, "must not be negative");
    return value;
  }
  double real(const char* what) { return number<double>(what); }
  /// Reads a text in quotation marks, which ends at the last quotation mark of the line.
  std::string_view quoted_text(const char* what);

  std::string_view token() const;  ///< last token read
  /// Returns the byte offset of the last token read.
  std::size_t offset() const { return static_cast<std::size_t>(token_ - begin_); }
  /// Returns the byte offset of the next byte to be read.
  std::size_t position() const { return static_cast<std::size_t>(cursor_ - begin_); }
  std::size_t bytes_left() const { return static_cast<std::size_t>(end_ - cursor_); }
  [[noreturn]] void fail(const std::string& what) const { document_->fail(offset(), what); }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_blanks() {
    while (cursor_ != end_ && is_blank(*cursor_)) ++cursor_;
  }
  template <class Number>
  Number number(const char* what) {
    skip_blanks();
    token_ = cursor_;
    Number value{};
    const auto [next, code] = std::from_chars(cursor_, end_, value);
    if (code != std::errc() || (next != end_ && !is_blank(*next) && *next != '\n')) fail_number(what, code);
    cursor_ = next;
    return value;
  }
  [[noreturn]] void fail_number(const char* what, std::errc code) const;
  [[noreturn]] void fail_value(const char* what, const char* problem) const;

  const Document* document_;
  const Section* section_;
  const char *begin_, *cursor_, *token_, *end_;
};

/// Reader for the numbers in a section of a binary file, starting at offset `position`. See TextSource.
class BinarySource {
 public:
  static constexpr std::size_t int_bytes = 4, size_bytes = 8, real_bytes = 8;

  BinarySource(const Document& document, const Section& section, std::size_t position)
      : document_(&document), section_(&section), cursor_(position), token_(position) {}

  void begin_record(const char*, std::int64_t = 0, std::int64_t = 1) {}
  void end_record() {}
  void finish(const char* what);

  std::int32_t int32(const char* what) { return number<std::int32_t>(what); }
  std::int64_t size(const char* what) {
    const auto value = number<std::uint64_t>(what);
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) fail_size(what, value);
    return static_cast<std::int64_t>(value);
  }
  double real(const char* what) { return number<double>(what); }
  /// Skips `bytes` bytes. The caller must have checked that the rest of the section has at least `bytes` bytes.
  void skip(std::size_t bytes) { cursor_ += bytes; }

  std::size_t offset() const { return token_; }
  std::size_t position() const { return cursor_; }
  std::size_t bytes_left() const { return section_->end - cursor_; }
  [[noreturn]] void fail(const std::string& what) const { document_->fail(*section_, token_, what); }

 private:
  template <class Number>
  Number number(const char* what) {
    token_ = cursor_;
    if (bytes_left() < sizeof(Number)) fail_end(what);
    char bytes[sizeof(Number)];
    std::memcpy(bytes, document_->content.data() + cursor_, sizeof bytes);
    if (document_->swap_bytes) std::reverse(bytes, bytes + sizeof bytes);
    cursor_ += sizeof bytes;
    Number value;
    std::memcpy(&value, bytes, sizeof bytes);
    return value;
  }
  [[noreturn]] void fail_end(const char* what) const;
  [[noreturn]] void fail_size(const char* what, std::uint64_t value) const;

  const Document* document_;
  const Section* section_;
  std::size_t cursor_, token_;
};

/// Throws InputError if the rest of the section is too short for `count` items of at least `bytes_each` bytes.
template <class Source>
void check_count(const Source& source, std::int64_t count, std::size_t bytes_each, const char* what) {
  if (static_cast<std::uint64_t>(count) <= source.bytes_left() / bytes_each) return;
  source.fail("the count says " + std::to_string(count) + " " + what + ", but only " +
              std::to_string(source.bytes_left()) +
              " bytes follow in the section; correct the count, or get the whole file again");
}

}  // namespace diffsim::gmsh
