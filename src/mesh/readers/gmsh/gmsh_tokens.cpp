// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/gmsh/gmsh_tokens.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim::gmsh {
namespace {

constexpr const char* get_again = "; correct the count, or get the whole file again";

}  // namespace

long Document::line_of(std::size_t offset) const {
  const auto text = content.substr(0, offset);
  return 1 + static_cast<long>(std::count(text.begin(), text.end(), '\n'));
}

FilePlace Document::place(const Section& section, std::size_t offset) const {
  if (!binary) return {line_of(offset), ""};
  return {line_of(section.header), "at byte " + std::to_string(offset)};
}

void Document::fail(std::size_t offset, const std::string& what) const {
  throw InputError(name, line_of(offset), "", what);
}

void Document::fail(const Section& section, std::size_t offset, const std::string& what) const {
  const FilePlace where = place(section, offset);
  throw InputError(name, where.line, "", where.note.empty() ? what : what + " (" + where.note + ")");
}

void TextSource::begin_record(const char* what, std::int64_t index, std::int64_t count) {
  while (cursor_ != end_ && (is_blank(*cursor_) || *cursor_ == '\n')) ++cursor_;
  token_ = cursor_;
  if (cursor_ != end_) return;
  const std::string section = "$" + std::string(section_->name);
  if (count == 1) fail(section + " ends before its " + what + get_again);
  fail(section + " ends after " + std::to_string(index) + " of " + std::to_string(count) + " " + what + get_again);
}

void TextSource::end_record() {
  skip_blanks();
  token_ = cursor_;
  if (cursor_ == end_) return;
  if (*cursor_ != '\n') fail("the line should end before " + in_quotes(token()) + "; a line holds one record");
  ++cursor_;
}

void TextSource::finish(const char* what) {
  while (cursor_ != end_ && (is_blank(*cursor_) || *cursor_ == '\n')) ++cursor_;
  token_ = cursor_;
  if (cursor_ != end_)
    fail("more " + std::string(what) + " than the count says, from " + in_quotes(token()) +
         " on; correct the count or remove them");
}

std::string_view TextSource::quoted_text(const char* what) {
  skip_blanks();
  token_ = cursor_;
  const std::string_view rest(cursor_, bytes_left());
  const std::string_view line = rest.substr(0, rest.find('\n'));
  const std::size_t last = line.rfind('"');
  if (line.empty() || line.front() != '"' || last == 0)
    fail("expected " + std::string(what) + " in \"quotation marks\", found " + in_quotes(token()) + "; quote it");
  cursor_ += last + 1;
  return line.substr(1, last - 1);
}

std::string_view TextSource::token() const {
  const char* last = token_;
  while (last != end_ && !is_blank(*last) && *last != '\n') ++last;
  return {token_, static_cast<std::size_t>(last - token_)};
}

void TextSource::fail_number(const char* what, std::errc code) const {
  const auto found = token();
  if (found.empty()) fail("the line ends before " + std::string(what) + "; complete it");
  if (code == std::errc::result_out_of_range) fail_value(what, "is too large or too small for its type");
  fail("expected " + std::string(what) + ", found " + in_quotes(found) + "; write a plain number there");
}

void TextSource::fail_value(const char* what, const char* problem) const {
  fail(std::string(what) + " " + in_quotes(token()) + " " + problem + "; correct it");
}

void BinarySource::finish(const char* what) {
  token_ = cursor_;
  const std::string_view rest = document_->content.substr(cursor_, bytes_left());
  if (rest.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  fail("more " + std::string(what) + " than the count says: " + std::to_string(rest.size()) +
       " bytes are left; correct the count");
}

void BinarySource::fail_end(const char* what) const {
  fail("$" + std::string(section_->name) + " ends before " + what + get_again);
}

void BinarySource::fail_size(const char* what, std::uint64_t value) const {
  fail(std::string(what) + " " + std::to_string(value) + " is too large; correct it, or get the whole file again");
}

}  // namespace diffsim::gmsh
