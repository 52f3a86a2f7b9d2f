// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diffsim/core/config.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/files.hpp"
#include "io/hdf5_file_impl.hpp"

namespace diffsim {

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
  // MPI_Comm_dup keeps a Cartesian topology. MPI-IO of Open MPI 4.1 has corrupted files on communicators with a
  // Cartesian topology. MPI_Comm_split drops the topology.
  int topology = MPI_UNDEFINED;
  DIFFSIM_MPI(MPI_Topo_test(comm, &topology));
  if (topology == MPI_UNDEFINED)
    DIFFSIM_MPI(MPI_Comm_dup(comm, &comm_));
  else
    DIFFSIM_MPI(MPI_Comm_split(comm, 0, rank_of(comm), &comm_));
  DIFFSIM_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
}

OwnedComm::~OwnedComm() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (comm_ != MPI_COMM_NULL && !finalized) MPI_Comm_free(&comm_);
}

// ---- Impl ----------------------------------------------------------------------------------------------------------

Hdf5File::Impl::Impl(MPI_Comm on, std::string name, FileSystem* written_by, bool by_itself)
    : comm(on), path(std::move(name)), files(written_by), writing(written_by != nullptr), alone(by_itself) {
  rank = rank_of(comm);
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
  // File formats since HDF5 1.8 have checksums of their metadata.
  DIFFSIM_HDF5(H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_LATEST));
  // Align all objects to 8 bytes, because word sums of a file (checksum.hpp) are computed from parts that begin at
  // multiples of 4.
  if (alone) DIFFSIM_HDF5(H5Pset_alignment(list, 1, 8));
  // HDF5 1.10 fails (MPI_ERR_TYPE) if HDF5 itself writes metadata in the middle of a collective transfer. HDF5 writes
  // metadata once `dirty_bytes_threshold` bytes of metadata have changed. The threshold is therefore so high that
  // count_change() flushes the metadata, outside of transfers, before the threshold is reached.
  if (!alone && writing) {
    H5AC_cache_config_t cache;
    cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    DIFFSIM_HDF5(H5Pget_mdc_config(list, &cache));
    cache.dirty_bytes_threshold = 32 << 20;
    DIFFSIM_HDF5(H5Pset_mdc_config(list, &cache));
  }
  // One rank reads the metadata for all ranks.
  if (!writing) DIFFSIM_HDF5(H5Pset_all_coll_metadata_ops(list, true));
  return list;
}

void Hdf5File::Impl::reserve(std::uint64_t bytes, bool is_frame) {
  // HDF5 does not know the length of a shared file, so the length is estimated here. The estimate includes 1024 bytes
  // for HDF5's own records of a dataset or a chunk.
  const std::uint64_t needed = length + bytes + 1024;
  // A frame must leave more of the reserved space free than other data, so that on a full disk there is still space to
  // finish the file.
  if (needed + room_for_metadata / (is_frame ? 2 : 16) <= reserved) {
    length = needed;
    return;
  }
  collectively(comm, [&] {
    if (rank == 0) reserve_space(*files, partial_path(), path, reserved, needed + room_for_metadata);
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

Hdf5File Hdf5File::create(MPI_Comm comm, const std::string& path, const std::string& format, int version,
                          FileSystem& files) {
  return create(std::make_unique<Impl>(comm, path, &files), format, version);
}

Hdf5File Hdf5File::create_alone(const std::string& path, const std::string& format, int version, FileSystem& files) {
  return create(std::make_unique<Impl>(MPI_COMM_SELF, path, &files, true), format, version);
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
    // Files with equal contents are equal byte by byte: no object stores its creation time.
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
  Hdf5File result(std::make_unique<Impl>(comm, path, nullptr));
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
  reserved = 0;  // H5Fflush has truncated the file to its used length
  changes = 0;
}

void Hdf5File::Impl::count_change() {
  constexpr int many = 1024;  // each change adds some kB of metadata
  if (alone || ++changes < many) return;
  flush();
  reserve(0, true);
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
    // On a full disk, all calls above can report success although the file is incomplete; cut_to_length() throws for an
    // incomplete file.
    cut_to_length(f.partial_path(), hdf5_length(f.partial_path()));
    publish_file(*f.files, f.partial_path(), f.path);
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
  constexpr std::uint64_t of_index = 256;  // upper bound of the size of HDF5's index entry of a chunk, bytes
  std::uint64_t needed = 0;
  for (const std::uint64_t size : bytes) needed += size + of_index;
  f.reserve(needed, false);
  const Hdf5Dataset object =
      f.create_dataset(dataset, single ? H5T_IEEE_F32LE : file_type<double>(), shape, units, false, chunk_rows);
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

}  // namespace diffsim
