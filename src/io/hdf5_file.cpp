// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/hdf5_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "diffsim/core/config.hpp"
#include "diffsim/core/profiling.hpp"
#include "file_system.hpp"
#include "hdf5_file_impl.hpp"

namespace diffsim {
namespace {

std::string checksum_text(std::uint64_t value) {
  char text[64];
  std::snprintf(text, sizeof(text), "splitmix64-sum:%016" PRIx64, value);
  return text;
}

/// All links of the root, for messages.
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

/// Whether `path` and every group on the way to it are there.
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

/// What this program is willing to believe of a dataset's size, given the bytes the file has of it: compression shrinks
/// at most about a thousandfold, and what was never written takes no room.
bool is_plausible(const Shape& shape, std::size_t type_size, std::uint64_t stored, bool is_plain) {
  std::uint64_t bytes = type_size;
  for (const std::int64_t n : shape)
    if (n < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(n), &bytes)) return false;
  if (is_plain) return bytes <= stored;
  return bytes / 2000 <= std::max<std::uint64_t>(stored, 1u << 20);
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::int64_t num_values(const Shape& shape) { return values_behind(shape, 0); }

std::int64_t values_behind(const Shape& shape, std::size_t leading) {
  std::int64_t count = 1;
  for (std::size_t i = leading; i < shape.size(); ++i)
    if (shape[i] < 0 || __builtin_mul_overflow(count, shape[i], &count))
      throw Error("an array of shape " + to_string(shape) + " is too large", ErrorKind::input);
  return count;
}

// ---- communicator --------------------------------------------------------------------------------------------------

OwnedComm::OwnedComm(MPI_Comm comm) {
  // MPI_Comm_dup keeps a Cartesian topology, with which Open MPI 4.1's MPI-IO has corrupted files; a split does not.
  int topology = MPI_UNDEFINED, rank = 0;
  DIFFSIM_MPI(MPI_Topo_test(comm, &topology));
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  if (topology == MPI_UNDEFINED)
    DIFFSIM_MPI(MPI_Comm_dup(comm, &comm_));
  else
    DIFFSIM_MPI(MPI_Comm_split(comm, 0, rank, &comm_));
  DIFFSIM_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

OwnedComm::~OwnedComm() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (comm_ != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm_);
}

// ---- Impl ----------------------------------------------------------------------------------------------------------

Hdf5File::Impl::Impl(MPI_Comm on, std::string name, bool for_writing, bool by_itself)
    : comm(on), path(std::move(name)), writing(for_writing), alone(by_itself) {
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
}

Hdf5File::Impl::~Impl() {
  const Hdf5Quiet quiet;
  (void)file.close();
  if (writing && !published && rank == 0) ::unlink(partial_path().c_str());
}

void Hdf5File::Impl::agree(const std::function<void()>& body) const {
  collectively(comm, [&] {
    const Hdf5Quiet quiet;
    body();
  });
}

void Hdf5File::Impl::check(long long code, const std::string& what) const {
  if (code >= 0) return;
  if (writing)
    throw Error(path + ": cannot " + what + " (" + hdf5_reason() + "); check that the disk has space and works",
                ErrorKind::system);
  throw InputError(path, 0, "", "cannot " + what + " (" + hdf5_reason() + "); the file is damaged, get it again");
}

void Hdf5File::Impl::fail(const std::string& dataset, const std::string& what) const {
  throw InputError(path, 0, dataset, what);
}

void Hdf5File::Impl::require_writing(const std::string& dataset) const {
  if (!writing || published) throw Error(path + ": " + dataset + ": the file is not open for writing");
  if (dataset.size() < 2 || dataset[0] != '/' || dataset.back() == '/')
    throw Error(path + ": '" + dataset + "' does not name a dataset; write /NAME or /GROUP/NAME", ErrorKind::input);
}

Hdf5Properties Hdf5File::Impl::access() const {
  Hdf5Properties list(H5Pcreate(H5P_FILE_ACCESS));
  DIFFSIM_HDF5(list);
  if (!alone) DIFFSIM_HDF5(H5Pset_fapl_mpio(list, comm, MPI_INFO_NULL));
  // Formats since HDF5 1.8 check-sum their own metadata.
  DIFFSIM_HDF5(H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_LATEST));
  // Word sums of a file (checksum.hpp) are taken by parts that begin at multiples of 4.
  if (alone) DIFFSIM_HDF5(H5Pset_alignment(list, 1, 8));
  // One rank reads metadata for all.
  if (!writing) DIFFSIM_HDF5(H5Pset_all_coll_metadata_ops(list, true));
  return list;
}

void Hdf5File::Impl::reserve(std::uint64_t bytes, bool is_frame) {
  // HDF5 does not know a shared file's length, so it is reckoned; its records of a dataset or a chunk are small.
  const std::uint64_t needed = length + bytes + 1024;
  // Frames stop while there is room to end the file with what it has.
  if (needed + room_for_metadata / (is_frame ? 2 : 16) <= reserved) {
    length = needed;
    return;
  }
  collectively(comm, [&] {
    if (rank == 0) reserve_space(partial_path(), path, reserved, needed + room_for_metadata);
  });
  length = needed;
  reserved = needed + room_for_metadata;
}

std::int64_t Hdf5File::Impl::first_row(std::int64_t rows, std::int64_t& total) const {
  std::int64_t first = 0;
  DIFFSIM_MPI(MPI_Exscan(&rows, &first, 1, MPI_INT64_T, MPI_SUM, comm));
  if (rank == 0) first = 0;
  DIFFSIM_MPI(MPI_Allreduce(&rows, &total, 1, MPI_INT64_T, MPI_SUM, comm));
  return first;
}

std::uint64_t Hdf5File::Impl::sum(std::uint64_t share) const {
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_UINT64_T, MPI_SUM, comm));
  return share;
}

void Hdf5File::Impl::broadcast(void* data, std::size_t bytes) const {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  for (std::size_t done = 0; done < bytes; done += at_once)
    DIFFSIM_MPI(MPI_Bcast(static_cast<char*>(data) + done, static_cast<int>(std::min(at_once, bytes - done)), MPI_BYTE,
                          0, comm));
}

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
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) return;  // not one of ours
    expected.resize(H5Tget_size(type));
    check(H5Aread(attribute, type, expected.data()), "read the checksum of " + dataset);
  });
  if (!expected.starts_with("splitmix64-sum:") || expected == checksum_text(found)) return;
  fail(dataset,
       "is damaged: its checksum does not match; get the file again (or, if you edited it on purpose, delete "
       "the attribute `checksum`)");
}

Hdf5Dataset Hdf5File::Impl::open_dataset(const std::string& dataset) const {
  Hdf5Dataset object(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT));
  check(object, "open dataset " + dataset);
  return object;
}

// ---- opening and publishing ----------------------------------------------------------------------------------------

Hdf5File::Hdf5File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  Impl& f = *impl_;
  f.agree([&] {
    f.collective = Hdf5Properties(H5Pcreate(H5P_DATASET_XFER));
    DIFFSIM_HDF5(f.collective);
    if (!f.alone) DIFFSIM_HDF5(H5Pset_dxpl_mpio(f.collective, H5FD_MPIO_COLLECTIVE));
  });
}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

Hdf5File Hdf5File::create(MPI_Comm comm, const std::string& path, const std::string& format, int version) {
  return create(std::make_unique<Impl>(comm, path, true), format, version);
}

Hdf5File Hdf5File::create_alone(const std::string& path, const std::string& format, int version) {
  return create(std::make_unique<Impl>(MPI_COMM_SELF, path, true, true), format, version);
}

Hdf5File Hdf5File::create(std::unique_ptr<Impl> impl, const std::string& format, int version) {
  Hdf5File result(std::move(impl));
  const std::string path = result.path();
  Impl& f = *result.impl_;
  collectively(f.comm, [&] {
    if (f.rank == 0) require_writable_file(f.partial_path(), path);
  });
  Hdf5Properties access, creation;
  f.agree([&] {
    access = f.access();
    creation = Hdf5Properties(H5Pcreate(H5P_FILE_CREATE));
    DIFFSIM_HDF5(creation);
    // Equal contents make equal files: no object keeps the time it was made.
    DIFFSIM_HDF5(H5Pset_obj_track_times(creation, false));
  });
  f.agree([&] {
    f.file = Hdf5FileId(H5Fcreate(f.partial_path().c_str(), H5F_ACC_TRUNC, creation, access));
    f.check(f.file, "make the file");
  });
  f.reserve(0, true);
  result.write_attribute("/", "format", format);
  result.write_attribute("/", "format_version", std::int64_t{version});
  result.write_attribute("/", "diffsim_version", DIFFSIM_VERSION);
  return result;
}

Hdf5File Hdf5File::open(MPI_Comm comm, const std::string& path) {
  Hdf5File result(std::make_unique<Impl>(comm, path, false));
  Impl& f = *result.impl_;
  collectively(f.comm, [&] {
    if (f.rank != 0) return;
    require_readable_file(path);
    if (!has_hdf5_signature(path)) throw InputError(path, 0, "", "is not an HDF5 file; check which file is meant");
  });
  Hdf5Properties access;
  f.agree([&] { access = f.access(); });
  f.agree([&] {
    f.file = Hdf5FileId(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
    if (f.file < 0)
      throw InputError(
          path, 0, "",
          "cannot be opened as HDF5 (" + hdf5_reason() + "); it is cut short or damaged, get the whole file again");
  });
  return result;
}

MPI_Comm Hdf5File::comm() const { return impl_->comm; }
const std::string& Hdf5File::path() const { return impl_->path; }
void Hdf5File::set_transfer_limit(std::size_t bytes) { impl_->transfer_limit = std::max<std::size_t>(bytes, 1); }

void Hdf5File::Impl::flush() {
  const ProfilingRegion region("diffsim::io::flush");
  agree([&] { check(H5Fflush(file, H5F_SCOPE_GLOBAL), "write to the disk"); });
  reserved = 0;  // HDF5 has cut the file to its length
}

void Hdf5File::flush() {
  impl_->flush();
  impl_->reserve(0, true);
}

void Hdf5File::require_space(double bytes) const {
  collectively(impl_->comm, [&] {
    const double free = free_space(path());
    if (impl_->rank == 0 && free < bytes)
      throw InputError(path(), 0, "",
                       "needs " + std::to_string(std::llround(bytes / 1e6)) + " MB of disk, but only " +
                           std::to_string(std::llround(free / 1e6)) + " MB are free; write less often, or elsewhere");
  });
}

void Hdf5File::publish() {
  const ProfilingRegion region("diffsim::io::publish");
  Impl& f = *impl_;
  f.require_writing("/publish");
  f.write_series_checksums(*this);
  f.flush();
  f.agree([&] { f.check(f.file.close(), "close the file"); });
  collectively(f.comm, [&] {
    if (f.rank != 0) return;
    // On a full disk the calls above may all have said that they succeeded.
    cut_to_length(f.partial_path(), hdf5_length(f.partial_path()));
    publish_file(f.partial_path(), f.path);
  });
  f.published = true;
}

std::uint64_t Hdf5File::allocate(const std::string& dataset, const Shape& shape, const std::string& units, bool single,
                                 std::uint64_t checksum) {
  Impl& f = *impl_;
  const Hdf5Dataset object =
      f.create_dataset(dataset, single ? H5T_IEEE_F32LE : file_type<double>(), shape, units, false);
  f.put_checksum(object, checksum);
  std::uint64_t place = 0;
  f.agree([&] {
    if (num_values(shape) == 0) return;
    const haddr_t offset = H5Dget_offset(object);
    f.check(offset == HADDR_UNDEF ? -1 : 0, "find the place of dataset " + dataset);
    place = offset;
  });
  return place;
}

std::vector<std::uint64_t> Hdf5File::allocate_chunks(const std::string& dataset, const Shape& shape,
                                                     const std::string& units, bool single, std::uint64_t checksum,
                                                     std::int64_t chunk_rows, const std::vector<std::uint64_t>& bytes) {
  Impl& f = *impl_;
  constexpr std::uint64_t of_index = 256;  // what HDF5 keeps of a chunk, at most
  std::uint64_t needed = 0;
  for (const std::uint64_t size : bytes) needed += size + of_index;
  f.reserve(needed, false);
  const Hdf5Dataset object = f.create_dataset(dataset, single ? H5T_IEEE_F32LE : file_type<double>(), shape, units,
                                              false, chunk_rows);
  f.put_checksum(object, checksum);
  std::vector<std::uint64_t> places;
  f.agree([&] {
    const std::string what = "make room for dataset " + dataset;
    std::vector<hsize_t> first(shape.size(), 0);
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      first[0] = static_cast<hsize_t>(static_cast<std::int64_t>(k) * chunk_rows);
      const std::vector<char> room(bytes[k]);
      f.check(H5Dwrite_chunk(object, H5P_DEFAULT, 0, first.data(), room.size(), room.data()), what);
      unsigned skipped = 0;
      haddr_t place = HADDR_UNDEF;
      hsize_t size = 0;
      f.check(H5Dget_chunk_info_by_coord(object, first.data(), &skipped, &place, &size), what);
      f.check(place == HADDR_UNDEF || size != bytes[k] ? -1 : 0, what);
      places.push_back(place);
    }
  });
  return places;
}

std::uint64_t Hdf5File::close_partial() {
  Impl& f = *impl_;
  f.flush();
  f.agree([&] { f.check(f.file.close(), "close the file"); });
  std::uint64_t length = 0;
  collectively(f.comm, [&] {
    if (f.rank != 0) return;
    length = hdf5_length(f.partial_path());
    cut_to_length(f.partial_path(), length);
  });
  f.published = true;
  DIFFSIM_MPI(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, f.comm));
  return length;
}

// ---- attributes and queries ----------------------------------------------------------------------------------------

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
      f.fail(dataset, "claims the shape " + to_string(info.shape) +
                          ", but the file does not hold that much; it was not written whole, or is damaged");
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
