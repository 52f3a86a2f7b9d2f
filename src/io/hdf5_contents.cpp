// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contents of an Hdf5File: attributes, checksums, existence and shape of datasets.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "io/hdf5_file.hpp"
#include "io/hdf5_file_impl.hpp"

namespace diffsim {
namespace {

std::string checksum_text(std::uint64_t value) {
  char text[64];
  std::snprintf(text, sizeof(text), "splitmix64-sum:%016" PRIx64, value);
  return text;
}

/// Names of all links of the root group, for messages.
std::string names_in(hid_t file) {
  std::string names;
  const auto append = [](hid_t, const char* name, const auto*, void* data) -> herr_t {
    auto& text = *static_cast<std::string*>(data);
    const bool is_long = text.size() > 200;
    text += is_long ? ", …" : (text.empty() ? "/" : ", /") + std::string(name);
    return is_long ? 1 : 0;
  };
  H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, append, &names);
  return names.empty() ? "nothing" : names;
}

/// Returns whether `path` and all its parent groups exist.
bool link_exists(hid_t file, const std::string& path) {
  if (path == "/") return true;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

bool is_dataset(hid_t file, const std::string& path) {
  if (path.size() < 2 || !link_exists(file, path)) return false;
  const Hdf5Object object(H5Oopen(file, path.c_str(), H5P_DEFAULT));
  return object >= 0 && H5Iget_type(object) == H5I_DATASET;
}

std::string kind_name(DatasetInfo::Kind kind) {
  switch (kind) {
    case DatasetInfo::Kind::real:
      return "real numbers";
    case DatasetInfo::Kind::integer:
      return "integers";
    case DatasetInfo::Kind::text:
      return "text";
    default:
      return "something else";
  }
}

/// Returns whether a dataset of the given shape can be stored in `stored` bytes of the file. If `is_plain` is true, the
/// values are stored contiguously and completely, and take at most `stored` bytes. The values of other datasets may
/// take up to 2000 · max(stored, 1 MiB) bytes: compression shrinks data at most about a thousandfold, and chunks that
/// were never written take no space.
bool is_plausible(const Shape& shape, std::size_t type_size, std::uint64_t stored, bool is_plain) {
  std::uint64_t bytes = type_size;
  for (const std::int64_t n : shape)
    if (n < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(n), &bytes)) return false;
  if (is_plain) return bytes <= stored;
  return bytes / 2000 <= std::max<std::uint64_t>(stored, 1u << 20);
}

}  // namespace

// ---- attributes and checksums --------------------------------------------------------------------------------------

void Hdf5File::Impl::put_attribute(hid_t object, const std::string& name, const AttributeValue& value) {
  const std::string what = "write attribute " + name;
  if (H5Aexists(object, name.c_str()) > 0) check(H5Adelete(object, name.c_str()), what);
  const Hdf5Space space(H5Screate(H5S_SCALAR));
  Hdf5Type text;
  hid_t type = file_type<double>(), memory = memory_type<double>();
  const void* data = nullptr;
  std::string padded;
  if (const auto* string = std::get_if<std::string>(&value)) {
    text = Hdf5Type(H5Tcopy(H5T_C_S1));
    padded = *string;
    padded.resize(std::max<std::size_t>(padded.size(), 1));
    check(H5Tset_size(text, padded.size()), what);
    check(H5Tset_strpad(text, H5T_STR_NULLPAD), what);
    check(H5Tset_cset(text, H5T_CSET_UTF8), what);
    type = memory = text;
    data = padded.data();
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    type = file_type<std::int64_t>();
    memory = memory_type<std::int64_t>();
    data = integer;
  } else {
    data = &std::get<double>(value);
  }
  const Hdf5Attribute attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  check(attribute, what);
  check(H5Awrite(attribute, memory, data), what);
}

void Hdf5File::Impl::put_checksum(hid_t object, std::uint64_t value) {
  agree([&] { put_attribute(object, "checksum", checksum_text(value)); });
}

void Hdf5File::Impl::verify(const std::string& dataset, std::uint64_t found) const {
  std::string expected;
  agree([&] {
    const Hdf5Dataset object = open_dataset(dataset);
    if (H5Aexists(object, "checksum") <= 0) return;
    const Hdf5Attribute attribute(H5Aopen(object, "checksum", H5P_DEFAULT));
    const Hdf5Type type(H5Aget_type(attribute));
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) return;  // checksum of another program
    expected.resize(H5Tget_size(type));
    check(H5Aread(attribute, type, expected.data()), "read the checksum of " + dataset);
  });
  if (!expected.starts_with("splitmix64-sum:") || expected == checksum_text(found)) return;
  fail(dataset,
       "is damaged: its checksum does not match; get the file again (or, if you edited it on purpose, delete "
       "the attribute `checksum`)");
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name, const AttributeValue& value) {
  Impl& f = *impl_;
  f.agree([&] {
    const Hdf5Object id(H5Oopen(f.file, object.c_str(), H5P_DEFAULT));
    f.check(id, "open " + object);
    f.put_attribute(id, name, value);
  });
}

std::optional<AttributeValue> Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const Impl& f = *impl_;
  std::optional<AttributeValue> result;
  f.agree([&] {
    if (!link_exists(f.file, object)) return;
    const Hdf5Object id(H5Oopen(f.file, object.c_str(), H5P_DEFAULT));
    f.check(id, "open " + object);
    if (H5Aexists(id, name.c_str()) <= 0) return;
    const std::string what = "read attribute " + name + " of " + object;
    const Hdf5Attribute attribute(H5Aopen(id, name.c_str(), H5P_DEFAULT));
    f.check(attribute, what);
    const Hdf5Space space(H5Aget_space(attribute));
    const Hdf5Type type(H5Aget_type(attribute));
    if (H5Sget_simple_extent_npoints(space) != 1) return;
    if (H5Tget_class(type) == H5T_FLOAT) {
      double value = 0.0;
      f.check(H5Aread(attribute, memory_type<double>(), &value), what);
      result = value;
    } else if (H5Tget_class(type) == H5T_INTEGER) {
      std::int64_t value = 0;
      f.check(H5Aread(attribute, memory_type<std::int64_t>(), &value), what);
      result = value;
    } else if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0) {
      char* text = nullptr;
      f.check(H5Aread(attribute, type, &text), what);
      result = std::string(text ? text : "");
      H5free_memory(text);
    } else if (H5Tget_class(type) == H5T_STRING) {
      std::string text(H5Tget_size(type), '\0');
      f.check(H5Aread(attribute, type, text.data()), what);
      text.resize(std::min(text.find('\0'), text.size()));
      result = text;
    }
  });
  return result;
}

// ---- existence, type and shape -------------------------------------------------------------------------------------

bool Hdf5File::has(const std::string& dataset) const {
  bool result = false;
  impl_->agree([&] { result = is_dataset(impl_->file, dataset); });
  return result;
}

DatasetInfo Hdf5File::info(const std::string& dataset) const { return impl_->info(dataset); }

DatasetInfo Hdf5File::Impl::info(const std::string& dataset) const {
  const Impl& f = *this;
  DatasetInfo info;
  f.agree([&] {
    if (!is_dataset(f.file, dataset)) f.fail(dataset, "no such dataset; the file has " + names_in(f.file));
    const Hdf5Dataset object = f.open_dataset(dataset);
    const Hdf5Space space(H5Dget_space(object));
    const Hdf5Type type(H5Dget_type(object));
    const int dimensions = H5Sget_simple_extent_ndims(space);
    f.check(dimensions, "read the shape of " + dataset);
    if (H5Sget_simple_extent_type(space) == H5S_NULL) f.fail(dataset, "is empty");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(dimensions));
    f.check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "read the shape of " + dataset);
    info.shape.assign(sizes.begin(), sizes.end());
    switch (H5Tget_class(type)) {
      case H5T_FLOAT:
        info.kind = DatasetInfo::Kind::real;
        break;
      case H5T_INTEGER:
        info.kind = DatasetInfo::Kind::integer;
        break;
      case H5T_STRING:
        info.kind = DatasetInfo::Kind::text;
        break;
      default:
        break;
    }
    const Hdf5Properties creation(H5Dget_create_plist(object));
    const H5D_layout_t layout = H5Pget_layout(creation);
    const bool is_plain = layout == H5D_CONTIGUOUS && H5Pget_external_count(creation) == 0;
    if (!is_plausible(info.shape, H5Tget_size(type), H5Dget_storage_size(object), is_plain))
      f.fail(dataset, "declares the shape " + to_string(info.shape) +
                          ", but the file contains less data; the file is incomplete or damaged");
  });
  return info;
}

DatasetInfo Hdf5File::Impl::info(const std::string& dataset, DatasetInfo::Kind kind) const {
  const DatasetInfo found = info(dataset);
  const bool converts = kind == DatasetInfo::Kind::real && found.kind == DatasetInfo::Kind::integer;
  if (found.kind != kind && !converts)
    fail(dataset, "holds " + kind_name(found.kind) + "; expected " + kind_name(kind));
  return found;
}

DatasetInfo Hdf5File::require(const std::string& dataset, DatasetInfo::Kind kind, const Shape& shape,
                              const std::string& meaning) const {
  const DatasetInfo found = impl_->info(dataset, kind);
  bool fits = found.shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || shape[i] == found.shape[i];
  if (fits) return found;
  std::string expected;
  if (std::find(shape.begin(), shape.end(), -1) == shape.end()) expected = to_string(shape);
  if (!meaning.empty()) expected += expected.empty() ? meaning : " (" + meaning + ")";
  if (expected.empty()) expected = std::to_string(shape.size()) + " dimensions";
  impl_->fail(dataset, "has shape " + to_string(found.shape) + "; expected " + expected);
}

}  // namespace diffsim
