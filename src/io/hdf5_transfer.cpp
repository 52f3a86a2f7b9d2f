// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Reading and writing of datasets: transfers of data between memory and the file.

#include <algorithm>
#include <cstring>

#include "diffsim/core/impl/profiling.hpp"
#include "io/checksum.hpp"
#include "io/chunk_filter.hpp"
#include "io/hdf5_file_impl.hpp"

namespace diffsim {
namespace {

using Kind = DatasetInfo::Kind;

/// Maximum number of rows of a frame in one chunk; a chunk of vectors then has 24 MB. If a frame is a single value, a
/// chunk has `values_of_chunk` frames.
constexpr std::int64_t rows_of_chunk = 1'000'000;
constexpr std::int64_t values_of_chunk = 1024;

constexpr std::int64_t most_replicated_values = std::int64_t{1} << 27;

std::vector<hsize_t> sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

template <class T>
constexpr Kind kind_of() {
  return std::is_same_v<T, double> ? Kind::real : Kind::integer;
}

Shape with_leading(std::int64_t first, const Shape& rest) {
  Shape shape{first};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

std::vector<hsize_t> chunk_shape(const Shape& series) {
  std::vector<hsize_t> chunk(series.begin(), series.end());
  chunk[0] = series.size() == 1 ? static_cast<hsize_t>(values_of_chunk) : 1;
  for (hsize_t& size : chunk) size = std::max<hsize_t>(size, 1);
  if (series.size() > 1) {
    // Chunks of equal size leave little unused space at the end of a frame.
    const std::int64_t chunks = std::max<std::int64_t>((series[1] + rows_of_chunk - 1) / rows_of_chunk, 1);
    chunk[1] = static_cast<hsize_t>(std::max<std::int64_t>((series[1] + chunks - 1) / chunks, 1));
  }
  return chunk;
}

/// Returns the number of bytes of the chunks that HDF5 adds when a series grows from `frames` frames to `shape`[0]
/// frames.
std::uint64_t bytes_to_grow(const Shape& shape, std::int64_t frames) {
  const std::vector<hsize_t> chunk = chunk_shape(shape);
  const auto chunks = [&](std::size_t i, std::int64_t size) {
    return (static_cast<hsize_t>(size) + chunk[i] - 1) / chunk[i];
  };
  std::uint64_t bytes = sizeof(double) * (chunks(0, shape[0]) - chunks(0, frames)) * chunk[0];
  for (std::size_t i = 1; i < chunk.size(); ++i) bytes *= chunks(i, shape[i]) * chunk[i];
  return bytes;
}

}  // namespace

Hdf5Dataset Hdf5File::Impl::create_dataset(const std::string& dataset, hid_t type, const Shape& shape,
                                           const std::string& units, bool is_series, std::int64_t compressed_rows) {
  Hdf5Dataset result;
  agree([&] { require_writing(dataset); });
  count_change();
  if (!is_series && compressed_rows == 0)
    reserve(static_cast<std::uint64_t>(num_values(shape)) * H5Tget_size(type), false);
  agree([&] {
    const std::string what = "make dataset " + dataset;
    std::vector<hsize_t> now = sizes(shape), most = now;
    const Hdf5Properties creation(H5Pcreate(H5P_DATASET_CREATE)), group(H5Pcreate(H5P_GROUP_CREATE));
    check(H5Pset_obj_track_times(group, false), what);
    for (std::size_t end = dataset.find('/', 1); end != std::string::npos; end = dataset.find('/', end + 1)) {
      const std::string parent = dataset.substr(0, end);
      if (H5Lexists(file, parent.c_str(), H5P_DEFAULT) > 0) continue;
      const Hdf5Object made(H5Gcreate2(file, parent.c_str(), H5P_DEFAULT, group, H5P_DEFAULT));
      check(made, what);
    }
    // Every value is written later. If HDF5 also filled the space with a default value, twice as many bytes would be
    // written.
    check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), what);
    if (compressed_rows > 0) {
      std::vector<hsize_t> chunk = sizes(shape);
      chunk[0] = static_cast<hsize_t>(compressed_rows);
      check(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()), what);
      set_filters(creation);
    } else if (alone) {
      check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), what);
    }
    check(H5Pset_obj_track_times(creation, false), what);
    if (is_series) {
      const std::vector<hsize_t> chunk = chunk_shape(shape);
      check(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()), what);
      now[0] = 0;
      most[0] = H5S_UNLIMITED;
    }
    const Hdf5Space space(shape.empty() ? H5Screate(H5S_SCALAR)
                                        : H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()));
    check(space, what);
    result = Hdf5Dataset(H5Dcreate2(file, dataset.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    check(result, what);
  });
  agree([&] { put_attribute(result, "units", units); });
  return result;
}

void Hdf5File::Impl::transfer(hid_t dataset, const std::string& name, hid_t type, const Shape& shape, const Part& part,
                              void* data, bool write) const {
  const ProfilingRegion region(write ? "diffsim::io::write" : "diffsim::io::read");
  const std::string what = (write ? "write dataset " : "read dataset ") + name;
  const std::size_t along = part.frame < 0 ? 0 : 1;
  const std::int64_t row_values = values_behind(shape, std::min(along + 1, shape.size()));
  const std::size_t row_bytes = static_cast<std::size_t>(row_values) * H5Tget_size(type);
  const std::int64_t at_once =
      std::max<std::int64_t>(static_cast<std::int64_t>(transfer_limit / std::max<std::size_t>(row_bytes, 1)), 1);
  std::int64_t rounds = row_values == 0 ? 0 : (part.rows + at_once - 1) / at_once;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_INT64_T, MPI_MAX, comm));

  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::int64_t done = std::min(round * at_once, part.rows);
    const std::int64_t rows = std::min(at_once, part.rows - done);
    Hdf5Space in_file, in_memory;
    agree([&] {
      in_file = Hdf5Space(H5Dget_space(dataset));
      check(in_file, what);
      // The selections in memory and in the file have the same shape, because HDF5 copies between different shapes
      // value by value.
      std::vector<hsize_t> start(shape.size(), 0), count = sizes(shape);
      if (!shape.empty()) {
        if (part.frame >= 0) {
          start[0] = static_cast<hsize_t>(part.frame);
          count[0] = 1;
        }
        start[along] = static_cast<hsize_t>(part.first + done);
        count[along] = static_cast<hsize_t>(std::max<std::int64_t>(rows, 1));
      }
      in_memory = Hdf5Space(shape.empty() ? H5Screate(H5S_SCALAR)
                                          : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
      check(in_memory, what);
      if (rows == 0) {
        check(H5Sselect_none(in_file), what);
        check(H5Sselect_none(in_memory), what);
      } else if (!shape.empty()) {
        check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), what);
      }
    });
    char nothing = 0;
    void* const place = rows == 0 ? &nothing : static_cast<char*>(data) + static_cast<std::size_t>(done) * row_bytes;
    agree([&] {
      check(write ? H5Dwrite(dataset, type, in_memory, in_file, collective, place)
                  : H5Dread(dataset, type, in_memory, in_file, collective, place),
            what);
    });
  }
}

// ---- arrays --------------------------------------------------------------------------------------------------------

template <class T>
void Hdf5File::write_array(const std::string& dataset, const std::vector<T>& values, const Shape& shape,
                           const std::string& units) {
  Impl& f = *impl_;
  f.agree([&] {
    if (num_values(shape) != static_cast<std::int64_t>(values.size()))
      throw Error(f.path + ": " + dataset + ": " + std::to_string(values.size()) +
                  " values do not make an array of shape " + to_string(shape));
  });
  const Hdf5Dataset object = f.create_dataset(dataset, file_type<T>(), shape, units, false);
  Impl::Part part;
  if (f.rank == 0) part.rows = shape.empty() ? 1 : shape[0];
  f.transfer(object, dataset, memory_type<T>(), shape, part, const_cast<T*>(values.data()), true);
  f.put_checksum(object, f.sum(f.rank == 0 ? checksum(values.data(), values.size(), 0) : 0));
}

void Hdf5File::write_strings(const std::string& dataset, const std::vector<std::string>& values) {
  Impl& f = *impl_;
  std::size_t width = 1;
  for (const std::string& value : values) width = std::max(width, value.size());
  std::vector<char> padded(width * values.size(), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) std::copy(values[i].begin(), values[i].end(), &padded[width * i]);
  Hdf5Type type;
  f.agree([&] {
    type = Hdf5Type(H5Tcopy(H5T_C_S1));
    DIFFSIM_HDF5(H5Tset_size(type, width));
    DIFFSIM_HDF5(H5Tset_strpad(type, H5T_STR_NULLPAD));
    DIFFSIM_HDF5(H5Tset_cset(type, H5T_CSET_UTF8));
  });
  const Shape shape{static_cast<std::int64_t>(values.size())};
  const Hdf5Dataset object = f.create_dataset(dataset, type, shape, "1", false);
  Impl::Part part;
  if (f.rank == 0) part.rows = shape[0];
  f.transfer(object, dataset, type, shape, part, padded.data(), true);
  f.put_checksum(object, f.sum(f.rank == 0 ? checksum(padded.data(), padded.size(), 0) : 0));
}

template <class T>
std::vector<T> Hdf5File::Impl::read(const std::string& dataset, const DatasetInfo& info, const Part& part,
                                    std::uint64_t first_index, std::uint64_t& found) const {
  const std::size_t along = part.frame < 0 ? 0 : 1;
  const std::int64_t row_values = values_behind(info.shape, std::min(along + 1, info.shape.size()));
  std::vector<T> values;
  Hdf5Dataset object;
  agree([&] {
    values.resize(static_cast<std::size_t>(part.rows * row_values));
    object = open_dataset(dataset);
  });
  transfer(object, dataset, memory_type<T>(), info.shape, part, values.data(), false);
  found = sum(checksum(values.data(), values.size(), first_index));
  return values;
}

namespace {

/// Returns the result of `read` for values of type T. If the file has integers and T is real, calls `read` for integers
/// and converts the result.
template <class T, class Read>
std::vector<T> read_as(const DatasetInfo& info, const Read& read) {
  if (kind_of<T>() == info.kind) return read(T{});
  const std::vector<std::int64_t> values = read(std::int64_t{});
  return std::vector<T>(values.begin(), values.end());
}

}  // namespace

template <class T>
std::vector<T> Hdf5File::read_array(const std::string& dataset) const {
  const Impl& f = *impl_;
  const DatasetInfo info = f.info(dataset, kind_of<T>());
  if (num_values(info.shape) > most_replicated_values)
    f.fail(dataset, "has " + std::to_string(num_values(info.shape)) + " values: too many to copy to every rank");
  std::vector<T> values = read_as<T>(info, [&]<class S>(S) {
    Impl::Part part;
    if (f.rank == 0) part.rows = info.shape.empty() ? 1 : info.shape[0];
    std::uint64_t found = 0;
    std::vector<S> result = f.read<S>(dataset, info, part, 0, found);
    f.verify(dataset, found);
    return result;
  });
  f.agree([&] { values.resize(static_cast<std::size_t>(num_values(info.shape))); });
  f.broadcast(values.data(), values.size() * sizeof(T));
  return values;
}

std::vector<std::string> Hdf5File::read_strings(const std::string& dataset) const {
  const Impl& f = *impl_;
  const DatasetInfo info = require(dataset, Kind::text, {-1}, "[entries]");
  const auto count = static_cast<std::size_t>(info.shape[0]);
  std::vector<std::string> values(count);
  std::uint64_t found = 0;
  bool ours = false;
  // Text datasets are small, so every rank reads them completely and independently.
  f.agree([&] {
    if (count == 0) return;
    const Hdf5Dataset object = f.open_dataset(dataset);
    const Hdf5Type type(H5Dget_type(object));
    if (H5Tis_variable_str(type) > 0) {
      std::vector<char*> text(count, nullptr);
      f.check(H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), "read dataset " + dataset);
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = text[i] ? text[i] : "";
        H5free_memory(text[i]);
      }
      return;
    }
    const std::size_t width = H5Tget_size(type);
    std::vector<char> text(width * count, '\0');
    f.check(H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), "read dataset " + dataset);
    for (std::size_t i = 0; i < count; ++i) values[i].assign(&text[width * i], strnlen(&text[width * i], width));
    found = checksum(text.data(), text.size(), 0);
    ours = true;
  });
  if (ours) f.verify(dataset, found);
  return values;
}

template <class T>
void Hdf5File::write_rows(const std::string& dataset, const std::vector<T>& block, const Shape& row_shape,
                          const std::string& units) {
  Impl& f = *impl_;
  const std::int64_t row_values = num_values(row_shape);
  f.agree([&] {
    if (row_values < 1 || static_cast<std::int64_t>(block.size()) % row_values != 0)
      throw Error(f.path + ": " + dataset + ": " + std::to_string(block.size()) +
                  " values are not whole rows of shape " + to_string(row_shape));
  });
  Impl::Part part;
  part.rows = static_cast<std::int64_t>(block.size()) / row_values;
  std::int64_t total = 0;
  part.first = f.first_row(part.rows, total);
  const Shape shape = with_leading(total, row_shape);
  const Hdf5Dataset object = f.create_dataset(dataset, file_type<T>(), shape, units, false);
  f.transfer(object, dataset, memory_type<T>(), shape, part, const_cast<T*>(block.data()), true);
  const auto first_index = static_cast<std::uint64_t>(part.first * row_values);
  f.put_checksum(object, f.sum(checksum(block.data(), block.size(), first_index)));
}

template <class T>
std::vector<T> Hdf5File::read_rows(const std::string& dataset, std::int64_t rows) const {
  const Impl& f = *impl_;
  const DatasetInfo info = f.info(dataset, kind_of<T>());
  Impl::Part part;
  part.rows = rows;
  std::int64_t total = 0;
  part.first = f.first_row(rows, total);
  if (info.shape.empty() || total != info.shape[0])
    f.fail(dataset, "has shape " + to_string(info.shape) + "; expected " + std::to_string(total) + " rows");
  const auto first_index = static_cast<std::uint64_t>(part.first * values_behind(info.shape, 1));
  return read_as<T>(info, [&]<class S>(S) {
    std::uint64_t found = 0;
    std::vector<S> result = f.read<S>(dataset, info, part, first_index, found);
    f.verify(dataset, found);
    return result;
  });
}

// ---- series --------------------------------------------------------------------------------------------------------

template <class T>
void Hdf5File::create_series(const std::string& dataset, const Shape& frame_shape, const std::string& units) {
  Impl& f = *impl_;
  (void)f.create_dataset(dataset, file_type<T>(), with_leading(0, frame_shape), units, true);
  f.series[dataset] = {frame_shape, {}};
}

template <class T>
void Hdf5File::append(const std::string& dataset, const std::vector<T>& block) {
  Impl& f = *impl_;
  const auto found = f.series.find(dataset);
  if (found == f.series.end()) throw Error(f.path + ": " + dataset + " is not a series of this file");
  Impl::Series& series = found->second;
  const auto frames = static_cast<std::int64_t>(series.checksums.size());
  const bool by_value = series.frame_shape.empty();
  const std::int64_t added = by_value ? static_cast<std::int64_t>(block.size()) : 1;
  const std::int64_t row_values = by_value ? 1 : values_behind(series.frame_shape, 1);

  Impl::Part part;
  std::int64_t total = static_cast<std::int64_t>(block.size()) / row_values;
  if (by_value) {
    part.first = frames;
    part.rows = f.rank == 0 ? total : 0;
  } else {
    part.frame = frames;
    part.rows = total;
    part.first = f.first_row(part.rows, total);
  }
  f.agree([&] {
    if (!by_value && (static_cast<std::int64_t>(block.size()) % row_values != 0 || total != series.frame_shape[0]))
      throw Error(f.path + ": " + dataset + ": the ranks have " + std::to_string(total) + " rows; a frame has shape " +
                  to_string(series.frame_shape));
  });

  f.count_change();
  const Shape shape = with_leading(frames + added, series.frame_shape);
  f.reserve(bytes_to_grow(shape, frames), !by_value);
  Hdf5Dataset object;
  f.agree([&] { object = f.open_dataset(dataset); });
  try {
    f.agree([&] { f.check(H5Dset_extent(object, sizes(shape).data()), "extend dataset " + dataset); });
    f.transfer(object, dataset, memory_type<T>(), shape, part, const_cast<T*>(block.data()), true);
  } catch (const Error&) {
    const Hdf5Quiet quiet;
    (void)H5Dset_extent(object, sizes(with_leading(frames, series.frame_shape)).data());
    throw;
  }
  if (by_value)
    for (std::size_t i = 0; i < block.size(); ++i)
      series.checksums.push_back(checksum(&block[i], 1, static_cast<std::uint64_t>(frames) + i));
  else
    series.checksums.push_back(
        f.sum(checksum(block.data(), block.size(), static_cast<std::uint64_t>(part.first * row_values))));
}

void Hdf5File::shrink_series(const std::string& dataset, std::int64_t frames) {
  Impl& f = *impl_;
  const auto found = f.series.find(dataset);
  if (found == f.series.end()) throw Error(f.path + ": " + dataset + " is not a series of this file");
  Impl::Series& series = found->second;
  if (frames < 0 || frames >= static_cast<std::int64_t>(series.checksums.size())) return;
  Hdf5Dataset object;
  f.agree([&] { object = f.open_dataset(dataset); });
  f.agree([&] {
    f.check(H5Dset_extent(object, sizes(with_leading(frames, series.frame_shape)).data()),
            "shorten dataset " + dataset);
  });
  series.checksums.resize(static_cast<std::size_t>(frames));
}

void Hdf5File::Impl::write_series_checksums(Hdf5File& owner) {
  for (const auto& [dataset, one] : series) {
    if (one.frame_shape.empty()) {
      std::uint64_t total = 0;
      for (const std::uint64_t share : one.checksums) total += share;
      Hdf5Dataset object;
      agree([&] { object = open_dataset(dataset); });
      put_checksum(object, total);
    } else {
      const std::vector<std::int64_t> values(one.checksums.begin(), one.checksums.end());
      owner.write_array(checksums_name(dataset), values, {static_cast<std::int64_t>(values.size())});
    }
  }
}

template <class T>
std::vector<T> Hdf5File::read_frame(const std::string& dataset, std::int64_t frame, std::int64_t rows) const {
  const Impl& f = *impl_;
  const DatasetInfo info = f.info(dataset, kind_of<T>());
  Impl::Part part;
  part.frame = frame;
  part.rows = rows;
  std::int64_t total = 0;
  part.first = f.first_row(rows, total);
  if (info.shape.size() < 2 || total != info.shape[1] || frame < 0 || frame >= info.shape[0])
    f.fail(dataset, "has shape " + to_string(info.shape) + "; expected a frame " + std::to_string(frame) + " of " +
                        std::to_string(total) + " rows");
  if (!f.frame_checksums.count(dataset) && has(checksums_name(dataset)))
    f.frame_checksums[dataset] = read_array<std::int64_t>(checksums_name(dataset));
  const std::vector<std::int64_t>& expected = f.frame_checksums[dataset];
  const auto first_index = static_cast<std::uint64_t>(part.first * values_behind(info.shape, 2));
  return read_as<T>(info, [&]<class S>(S) {
    std::uint64_t found = 0;
    std::vector<S> result = f.read<S>(dataset, info, part, first_index, found);
    if (static_cast<std::int64_t>(expected.size()) == info.shape[0] &&
        static_cast<std::uint64_t>(expected[static_cast<std::size_t>(frame)]) != found)
      f.fail(dataset, "frame " + std::to_string(frame) +
                          " is damaged: its checksum does not match; get the file again " +
                          "(or, if you edited it on purpose, delete " + checksums_name(dataset) + ")");
    return result;
  });
}

#define DIFFSIM_INSTANTIATE(T)                                                                                      \
  template void Hdf5File::write_array(const std::string&, const std::vector<T>&, const Shape&, const std::string&); \
  template std::vector<T> Hdf5File::read_array(const std::string&) const;                                           \
  template void Hdf5File::write_rows(const std::string&, const std::vector<T>&, const Shape&, const std::string&);  \
  template std::vector<T> Hdf5File::read_rows(const std::string&, std::int64_t) const;                              \
  template void Hdf5File::create_series<T>(const std::string&, const Shape&, const std::string&);                   \
  template void Hdf5File::append(const std::string&, const std::vector<T>&);                                        \
  template std::vector<T> Hdf5File::read_frame(const std::string&, std::int64_t, std::int64_t) const

DIFFSIM_INSTANTIATE(double);
DIFFSIM_INSTANTIATE(std::int64_t);
#undef DIFFSIM_INSTANTIATE

}  // namespace diffsim
