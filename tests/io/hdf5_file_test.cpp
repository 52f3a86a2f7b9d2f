// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5_file.hpp"

#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>

#include "io_testing.hpp"

namespace diffsim::hdf5_file_test {
namespace {

using namespace testing_io;
namespace fs = std::filesystem;

const double awkward[] = {-0.0, 5e-324, std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN(), 1.0 / 3.0};

double value_at(std::int64_t row, int column) {
  const std::int64_t i = 3 * row + column;
  return i % 7 < 5 ? awkward[i % 7] : std::sin(static_cast<double>(i));
}

std::vector<double> block_of(const std::vector<std::int64_t>& rows, double shift = 0.0) {
  std::vector<double> block;
  for (const std::int64_t row : rows)
    for (int c = 0; c < 3; ++c) block.push_back(value_at(row, c) + shift);
  return block;
}

Hdf5File new_file(const std::string& path) { return Hdf5File::create(MPI_COMM_WORLD, path, "diffsim test", 3); }
Hdf5File open_file(const std::string& path) { return Hdf5File::open(MPI_COMM_WORLD, path); }

TEST(Hdf5File, KeepsWhatWasWritten) {
  const auto rows = my_rows(101);
  const auto block = block_of(rows);
  std::vector<std::int64_t> numbers(rows.begin(), rows.end());
  Hdf5File file = new_file("kept.h5");
  file.write_attribute("/", "text", "metres, \xc2\xb5m");
  file.write_attribute("/", "none", "");
  file.write_attribute("/", "real", 0.1);
  file.write_attribute("/", "count", 7);
  file.write_attribute("/", "count", std::int64_t{1} << 40);
  file.write_rows("/group/deeper/vectors", block, {3}, "m");
  file.write_rows("/group/numbers", numbers, {});
  file.write_rows("/nobody", std::vector<double>{}, {3});
  file.write_array("/pi", std::vector<double>{std::acos(-1.0)}, {}, "rad");
  file.write_array("/table", std::vector<std::int64_t>{1, 2, 3, -4, 5, 6}, {2, 3});
  file.write_strings("/names", {"one", "", "three, \xc2\xb5"});
  file.publish();
  EXPECT_FALSE(fs::exists("kept.h5.partial"));

  const Hdf5File back = open_file("kept.h5");
  EXPECT_EQ(back.attribute("/", "format"), AttributeValue("diffsim test"));
  EXPECT_EQ(back.attribute("/", "format_version"), AttributeValue(std::int64_t{3}));
  EXPECT_TRUE(back.attribute("/", "diffsim_version").has_value());
  EXPECT_EQ(back.attribute("/", "text"), AttributeValue("metres, \xc2\xb5m"));
  EXPECT_EQ(back.attribute("/", "none"), AttributeValue(""));
  EXPECT_EQ(back.attribute("/", "real"), AttributeValue(0.1));
  EXPECT_EQ(back.attribute("/", "count"), AttributeValue(std::int64_t{1} << 40));
  EXPECT_EQ(back.attribute("/", "absent"), std::nullopt);
  EXPECT_EQ(back.attribute("/absent", "units"), std::nullopt);
  EXPECT_EQ(back.attribute("/group/deeper/vectors", "units"), AttributeValue("m"));
  EXPECT_EQ(back.attribute("/group/numbers", "units"), AttributeValue("1"));
  EXPECT_TRUE(
      same_bits(back.read_rows<double>("/group/deeper/vectors", static_cast<std::int64_t>(rows.size())), block));
  EXPECT_EQ(back.read_rows<std::int64_t>("/group/numbers", static_cast<std::int64_t>(rows.size())), numbers);
  EXPECT_TRUE(back.read_rows<double>("/nobody", 0).empty());
  EXPECT_EQ(back.read_array<double>("/pi"), std::vector<double>{std::acos(-1.0)});
  EXPECT_EQ(back.read_array<std::int64_t>("/table"), (std::vector<std::int64_t>{1, 2, 3, -4, 5, 6}));
  EXPECT_EQ(back.read_array<double>("/table"), (std::vector<double>{1, 2, 3, -4, 5, 6}));
  EXPECT_EQ(back.read_strings("/names"), (std::vector<std::string>{"one", "", "three, \xc2\xb5"}));
  EXPECT_EQ(back.info("/table").shape, (Shape{2, 3}));
  EXPECT_EQ(back.info("/table").kind, DatasetInfo::Kind::integer);
  EXPECT_EQ(back.info("/pi").shape, Shape{});
  EXPECT_EQ(back.info("/names").kind, DatasetInfo::Kind::text);
  EXPECT_TRUE(back.has("/group/numbers"));
  EXPECT_FALSE(back.has("/group"));
  EXPECT_FALSE(back.has("/group/absent/numbers"));
}

TEST(Hdf5File, SplitsLargeTransfers) {
  const auto rows = my_rows(101);
  const auto block = block_of(rows);
  const auto count = static_cast<std::int64_t>(rows.size());
  Hdf5File file = new_file("split.h5");
  file.set_transfer_limit(5 * 24);  // five rows per transfer
  file.write_rows("/vectors", block, {3});
  file.create_series<double>("/series", {101, 3});
  file.append("/series", block);
  file.publish();
  Hdf5File back = open_file("split.h5");
  EXPECT_TRUE(same_bits(back.read_rows<double>("/vectors", count), block));
  EXPECT_TRUE(same_bits(back.read_frame<double>("/series", 0, count), block));
  back.set_transfer_limit(1);  // at least one row is transferred
  EXPECT_TRUE(same_bits(back.read_rows<double>("/vectors", count), block));
  EXPECT_TRUE(same_bits(back.read_frame<double>("/series", 0, count), block));
}

TEST(Hdf5File, GrowsSeriesByFrames) {
  const auto rows = my_rows(50);
  const auto count = static_cast<std::int64_t>(rows.size());
  Hdf5File file = new_file("series.h5");
  file.create_series<double>("/frames", {50, 3}, "m");
  file.create_series<double>("/time", {}, "s");
  file.create_series<std::int64_t>("/step", {});
  file.create_series<double>("/empty", {50, 3});
  for (int k = 0; k < 5; ++k) {
    file.append("/frames", block_of(rows, k));
    file.append("/time", std::vector<double>{0.1 * k});
    if (k == 2) file.flush();
  }
  file.append("/step", std::vector<std::int64_t>{0, 10, 20, 30});
  file.shrink_series("/frames", 4);
  file.shrink_series("/time", 4);
  file.publish();

  const Hdf5File back = open_file("series.h5");
  EXPECT_EQ(back.info("/frames").shape, (Shape{4, 50, 3}));
  EXPECT_EQ(back.info("/empty").shape, (Shape{0, 50, 3}));
  EXPECT_EQ(back.info("/checksums/frames").shape, Shape{4});
  EXPECT_TRUE(same_bits(back.read_array<double>("/time"), {0.0, 0.1, 0.2, 0.1 * 3}));
  EXPECT_EQ(back.read_array<std::int64_t>("/step"), (std::vector<std::int64_t>{0, 10, 20, 30}));
  for (const int k : {3, 0, 2, 1})
    EXPECT_TRUE(same_bits(back.read_frame<double>("/frames", k, count), block_of(rows, k)));
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { back.read_frame<double>("/frames", 4, count); }), "[4, 50, 3]");
}

TEST(Hdf5File, ChecksumDoesNotDependOnTheRanks) {
  Hdf5File spread = new_file("spread.h5");
  spread.write_rows("/x", block_of(my_rows(77)), {3});
  spread.publish();
  std::vector<std::int64_t> all(77);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  Hdf5File whole = new_file("whole.h5");
  whole.write_array("/x", block_of(all), {77, 3});
  whole.publish();
  const auto sum = open_file("spread.h5").attribute("/x", "checksum");
  EXPECT_EQ(sum, open_file("whole.h5").attribute("/x", "checksum"));
  // The checksum is a known value, which must not change between versions.
  EXPECT_EQ(sum, AttributeValue("splitmix64-sum:c39d2a124a4a5697"));
  // The files are bitwise identical.
  EXPECT_EQ(read_bytes("spread.h5"), read_bytes("whole.h5"));
}

TEST(Hdf5File, NoticesADamagedValue) {
  const auto rows = my_rows(40);
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<double> block(3 * rows.size(), 1.0), frame = block;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] == 37) {
      block[3 * i + 1] = 12345.678;
      frame[3 * i + 1] = 87654.321;
    }
  Hdf5File file = new_file("good.h5");
  file.write_rows("/group/vectors", block, {3});
  file.create_series<double>("/series", {40, 3});
  file.append("/series", block_of(rows));
  file.append("/series", frame);
  file.write_array("/table", std::vector<std::int64_t>{1, 0x123456789abcdef, 3}, {3});
  file.write_strings("/names", {"some", "legible", "names"});
  file.create_series<double>("/time", {});
  file.append("/time", std::vector<double>{3.1415926, 2.7182818});
  file.publish();

  const auto damaged = [](const std::string& path, auto marker) {
    damage_value("good.h5", path, marker);
    return open_file(path);
  };
  const Hdf5File vectors = damaged("bad1.h5", 12345.678);
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { vectors.read_rows<double>("/group/vectors", count); }),
                  "bad1.h5: /group/vectors: is damaged");
  EXPECT_TRUE(same_bits(vectors.read_frame<double>("/series", 1, count), frame));
  const Hdf5File series = damaged("bad2.h5", 87654.321);
  EXPECT_TRUE(same_bits(series.read_frame<double>("/series", 0, count), block_of(rows)));
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { series.read_frame<double>("/series", 1, count); }),
                  "/series: frame 1 is damaged");
  const Hdf5File table = damaged("bad3.h5", std::int64_t{0x123456789abcdef});
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { table.read_array<std::int64_t>("/table"); }), "/table: is damaged");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { table.read_array<double>("/table"); }), "/table: is damaged");
  const Hdf5File names = damaged("bad4.h5", std::array<char, 7>{'l', 'e', 'g', 'i', 'b', 'l', 'e'});
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { names.read_strings("/names"); }), "/names: is damaged");
  const Hdf5File time = damaged("bad5.h5", 2.7182818);
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { time.read_array<double>("/time"); }), "/time: is damaged");
}

TEST(Hdf5File, LeavesNothingBehindThatWasNotPublished) {
  {
    Hdf5File file = new_file("abandoned.h5");
    file.write_rows("/x", block_of(my_rows(10)), {3});
    EXPECT_TRUE(fs::exists("abandoned.h5.partial"));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(fs::exists("abandoned.h5.partial"));
  EXPECT_FALSE(fs::exists("abandoned.h5"));
}

TEST(Hdf5File, ReplacesAnOldFileOnlyWhenPublished) {
  on_rank_0([] { write_bytes("old.h5", "old"); });
  {
    Hdf5File file = new_file("old.h5");
    file.write_array("/x", std::vector<double>{1}, {1});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(read_bytes("old.h5"), "old");
  MPI_Barrier(MPI_COMM_WORLD);
  Hdf5File file = new_file("old.h5");
  file.write_array("/x", std::vector<double>{1}, {1});
  file.publish();
  EXPECT_EQ(open_file("old.h5").read_array<double>("/x"), std::vector<double>{1});
}

TEST(Hdf5File, RefusesWhatCannotBeWritten) {
  on_rank_0([] {
    write_bytes("plain", "x");
    fs::create_directories("folder.h5");
  });
  EXPECT_CONTAINS(error_of(ErrorKind::input, [] { new_file("absent/x.h5"); }),
                  "absent/x.h5: cannot be written (No such file or directory)");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [] { new_file("plain/x.h5"); }), "cannot be written (Not a directory)");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [] { new_file("folder.h5"); }), "folder.h5: is a directory");
  EXPECT_FALSE(fs::exists("folder.h5.partial"));
}

TEST(Hdf5File, RefusesWhatItCannotRead) {
  {
    Hdf5File file = new_file("whole.h5");
    file.write_rows("/x", block_of(my_rows(1000)), {3});
    file.publish();
  }
  on_rank_0([] {
    fs::create_directories("folder");
    write_bytes("empty.h5", "");
    write_bytes("text.h5", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
    const std::string bytes = read_bytes("whole.h5");
    write_bytes("half.h5", bytes.substr(0, bytes.size() / 2));
    write_bytes("stub.h5", bytes.substr(0, 20));
    std::string damaged = bytes;
    damaged[20] = static_cast<char>(damaged[20] ^ 1);  // in the superblock, which has its own checksum
    write_bytes("superblock.h5", damaged);
  });
  const auto refusal = [](const std::string& path) { return error_of(ErrorKind::input, [&] { open_file(path); }); };
  EXPECT_CONTAINS(refusal("absent.h5"), "absent.h5: no such file");
  EXPECT_CONTAINS(refusal("folder"), "folder: is a directory");
  EXPECT_CONTAINS(refusal("empty.h5"), "empty.h5: is not an HDF5 file");
  EXPECT_CONTAINS(refusal("text.h5"), "text.h5: is not an HDF5 file");
  EXPECT_CONTAINS(refusal("half.h5"), "half.h5: cannot be opened as HDF5 (truncated file");
  EXPECT_CONTAINS(refusal("stub.h5"), "stub.h5: cannot be opened as HDF5");
  EXPECT_CONTAINS(refusal("superblock.h5"), "cut short or damaged");
}

TEST(Hdf5File, NamesWhatIsWrongWithADataset) {
  Hdf5File file = new_file("shapes.h5");
  file.write_array("/x", std::vector<double>(6, 1.0), {2, 3});
  file.write_strings("/names", {"a"});
  file.publish();
  const Hdf5File back = open_file("shapes.h5");
  using Kind = DatasetInfo::Kind;
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { back.info("/y"); }),
                  "shapes.h5: /y: no such dataset; the file has /names, /x");
  EXPECT_CONTAINS(error_of(ErrorKind::input,
                           [&] {
                             back.require("/x", Kind::real, {2, 4});
                           }),
                  "/x: has shape [2, 3]; expected [2, 4]");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { back.require("/x", Kind::real, {-1}, "[cells]"); }),
                  "expected [cells]");
  EXPECT_CONTAINS(error_of(ErrorKind::input,
                           [&] {
                             back.require("/x", Kind::integer, {2, 3});
                           }),
                  "holds real numbers; expected integers");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { back.read_array<double>("/names"); }), "holds text");
  EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { back.read_rows<double>("/x", 3); }), "has shape [2, 3]");
}

/// Writes a file with features that other programs use: other types, strings of variable length, links, and a dataset
/// larger than the file.
void write_foreign_file(const std::string& path) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t text = H5Tcopy(H5T_C_S1), one = H5Screate(H5S_SCALAR);
  H5Tset_size(text, H5T_VARIABLE);
  const hsize_t sizes[] = {2, 3}, huge[] = {hsize_t{1} << 60, 3}, chunk[] = {1024, 3};
  const hid_t table = H5Screate_simple(2, sizes, nullptr), list = H5Screate_simple(1, sizes, nullptr),
              absurd = H5Screate_simple(2, huge, nullptr), chunked = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(chunked, 2, chunk);
  const auto dataset = [&](const char* name, hid_t type, hid_t space, hid_t creation, const void* data) {
    const hid_t id = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (data) H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(id);
  };
  const float floats[] = {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f};
  const int numbers[] = {7, -8};
  const char* const names[] = {"bone", ""};
  const char* const format = "of another program";
  dataset("floats", H5T_NATIVE_FLOAT, table, H5P_DEFAULT, floats);
  dataset("numbers", H5T_NATIVE_INT, list, H5P_DEFAULT, numbers);
  dataset("names", text, list, H5P_DEFAULT, names);
  dataset("absurd", H5T_NATIVE_DOUBLE, absurd, chunked, nullptr);
  dataset("unwritten", H5T_NATIVE_DOUBLE, table, H5P_DEFAULT, nullptr);
  H5Lcreate_soft("/numbers", file, "alias", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t attribute = H5Acreate2(file, "format", text, one, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, text, &format);
  H5Aclose(attribute);
  for (const hid_t space : {one, table, list, absurd}) H5Sclose(space);
  H5Pclose(chunked);
  H5Tclose(text);
  H5Fclose(file);
}

TEST(Hdf5File, ReadsWhatOthersWrote) {
  on_rank_0([] { write_foreign_file("foreign.h5"); });
  const Hdf5File file = open_file("foreign.h5");
  EXPECT_EQ(file.read_array<double>("/floats"), (std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5, 5.5}));
  EXPECT_EQ(file.read_array<double>("/numbers"), (std::vector<double>{7, -8}));
  EXPECT_EQ(file.read_array<std::int64_t>("/alias"), (std::vector<std::int64_t>{7, -8}));
  const auto rows = my_rows(2);
  std::vector<double> expected;
  for (const std::int64_t row : rows)
    for (int c = 0; c < 3; ++c) expected.push_back(0.5 + static_cast<double>(3 * row + c));
  EXPECT_EQ(file.read_rows<double>("/floats", static_cast<std::int64_t>(rows.size())), expected);
  EXPECT_EQ(file.read_strings("/names"), (std::vector<std::string>{"bone", ""}));
  EXPECT_EQ(file.attribute("/", "format"), AttributeValue("of another program"));
  EXPECT_FALSE(file.has("/dangling"));
  for (const char* name : {"/absurd", "/unwritten"})
    EXPECT_CONTAINS(error_of(ErrorKind::input, [&] { file.read_array<double>(name); }), "the file contains less data");
}

TEST(Hdf5File, RefusesBlocksThatAreNotWhole) {
  Hdf5File file = new_file("blocks.h5");
  const std::vector<double> block(rank() == num_ranks() - 1 ? 4 : 3, 0.0);
  EXPECT_CONTAINS(error_of(ErrorKind::run, [&] { file.write_rows("/x", block, {3}); }), "not whole rows of shape [3]");
  EXPECT_CONTAINS(error_of(ErrorKind::run, [&] { file.write_array("/x", block, {2}); }), "do not make an array");
  file.create_series<double>("/s", {num_ranks() + 1, 3});
  const std::vector<double> row(3, 0.0);
  EXPECT_CONTAINS(error_of(ErrorKind::run, [&] { file.append("/s", row); }), "a frame has shape");
  EXPECT_CONTAINS(error_of(ErrorKind::run, [&] { file.append("/t", row); }), "/t is not a series");
}

TEST(Hdf5File, WorksOnACartesianCommunicator) {
  int periods = 0, size = num_ranks();
  MPI_Comm line = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &line);
  {
    Hdf5File file = Hdf5File::create(line, "line.h5", "diffsim test", 1);
    int topology = MPI_CART;
    MPI_Topo_test(file.comm(), &topology);
    EXPECT_EQ(topology, MPI_UNDEFINED);
    file.write_rows("/x", block_of(my_rows(30)), {3});
    file.publish();
  }
  MPI_Comm_free(&line);
  const auto rows = my_rows(30);
  EXPECT_TRUE(
      same_bits(open_file("line.h5").read_rows<double>("/x", static_cast<std::int64_t>(rows.size())), block_of(rows)));
}

/// Limits the size of the files that this process can write, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_action_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit now = old_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, old_action_);
  }

 private:
  rlimit old_{};
  void (*old_action_)(int) = nullptr;
};

TEST(Hdf5File, ReportsAFullDiskOnEveryRank) {
  on_rank_0([] { fs::remove("full.h5"); });  // left by an earlier run
  const std::vector<double> block(300'000, 1.0);
  // -1 limits all ranks. On three ranks only the first rank is limited alone, because MPI-IO may wait forever for
  // another rank that failed.
  for (int limited = -1; limited < std::min(num_ranks(), 4 - num_ranks()); ++limited) {
    SCOPED_TRACE("limited: rank " + std::to_string(limited));
    bool failed = false;
    {
      Hdf5File file = new_file("full.h5");
      std::unique_ptr<FileSizeLimit> limit;
      if (limited < 0 || rank() == limited) limit = std::make_unique<FileSizeLimit>(100'000);
      try {
        file.write_rows("/x", block, {3});
        file.publish();
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.kind(), ErrorKind::system);
        EXPECT_CONTAINS(std::string(error.what()), "full.h5: ");
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // MPI may let other ranks write for a rank that cannot write.
    EXPECT_TRUE(failed || (limited >= 0 && num_ranks() > 1));
    EXPECT_EQ(fs::exists("full.h5"), !failed);
    EXPECT_FALSE(fs::exists("full.h5.partial"));
    if (!failed) {
      EXPECT_EQ(open_file("full.h5").read_rows<double>("/x", 100'000), block);
    }
    on_rank_0([] { fs::remove("full.h5"); });
  }
  // The library still works afterwards.
  Hdf5File file = new_file("full.h5");
  file.write_rows("/x", block, {3});
  file.publish();
  EXPECT_EQ(open_file("full.h5").read_rows<double>("/x", 100'000), block);
}

TEST(Hdf5File, PublishesTheFramesBeforeTheDiskWasFull) {
  const auto rows = my_rows(20'000);
  const auto count = static_cast<std::int64_t>(rows.size());
  int frames = 0;
  {
    Hdf5File file = new_file("stopped.h5");
    file.create_series<double>("/x", {20'000, 3});
    std::unique_ptr<FileSizeLimit> limit;
    if (rank() == 0) limit = std::make_unique<FileSizeLimit>(4'000'000);
    const std::string message = error_of(ErrorKind::system, [&] {
      for (; frames < 100; ++frames) file.append("/x", block_of(rows, frames));
    });
    EXPECT_CONTAINS(message, "stopped.h5: cannot grow to");
    EXPECT_GT(frames, 2);
    EXPECT_LT(frames, 9);
    file.publish();
  }
  const Hdf5File back = open_file("stopped.h5");
  EXPECT_EQ(back.info("/x").shape, (Shape{frames, 20'000, 3}));
  EXPECT_TRUE(same_bits(back.read_frame<double>("/x", frames - 1, count), block_of(rows, frames - 1)));
}

TEST(Hdf5File, HasManySeriesThatGrow) {
  constexpr int series = 700;
  const auto rows = my_rows(8);
  const auto name = [](int k) { return "/bodies/b" + std::to_string(k) + "/positions"; };
  {
    Hdf5File file = new_file("many.h5");
    for (int k = 0; k < series; ++k) {
      file.write_rows("/bodies/b" + std::to_string(k) + "/mesh", block_of(rows, k), {3});
      file.create_series<double>(name(k), {8, 3});
    }
    for (int frame = 0; frame < 4; ++frame)
      for (int k = 0; k < series; ++k) file.append(name(k), block_of(rows, k + frame));
    file.publish();
  }
  const Hdf5File back = open_file("many.h5");
  for (const int k : {0, 500, series - 1})
    EXPECT_TRUE(
        same_bits(back.read_frame<double>(name(k), 3, static_cast<std::int64_t>(rows.size())), block_of(rows, k + 3)));
}

}  // namespace
}  // namespace diffsim::hdf5_file_test
