// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::app {
namespace {

namespace fs = std::filesystem;

/// Folders that are created to test whether a path is writable. The destructor removes these folders.
class TrialFolders {
 public:
  void make(const fs::path& directory, std::error_code& code) {
    if (directory.empty() || fs::exists(directory)) return;
    make(directory.parent_path(), code);
    if (!code && fs::create_directory(directory, code)) made_.push_back(directory);
  }
  ~TrialFolders() {
    std::error_code ignored;
    for (auto directory = made_.rbegin(); directory != made_.rend(); ++directory) fs::remove(*directory, ignored);
  }

 private:
  std::vector<fs::path> made_;
};

void try_out(const std::string& directory, const std::vector<std::string>& files, const Place& place) {
  const auto refuse = [&](const std::string& what) { place.fail(what + "; choose another folder"); };
  std::error_code code;
  const fs::path folder = fs::absolute(directory).lexically_normal();
  if (fs::exists(folder, code) && !fs::is_directory(folder)) refuse("'" + directory + "' is a file, not a folder");
  TrialFolders trial;
  trial.make(folder.has_filename() ? folder : folder.parent_path(), code);
  if (code) refuse("'" + directory + "' cannot be created: " + code.message());
  const fs::path probe = folder / (".diffsim-" + std::to_string(getpid()));
  errno = 0;
  const bool written = static_cast<bool>(std::ofstream(probe) << "x" << std::flush);
  const std::string reason = std::strerror(errno);
  fs::remove(probe, code);
  if (!written) refuse("'" + directory + "' cannot be written to: " + reason);
  for (const std::string& name : files)
    if (fs::exists(folder / name) && !fs::is_regular_file(folder / name))
      refuse("'" + (fs::path(directory) / name).string() +
             "' exists and is not a regular file, so it cannot be replaced");
}

}  // namespace

void require_writable(MPI_Comm comm, const std::string& directory, const std::vector<std::string>& files,
                      const Place& place) {
  collectively(comm, [&] {
    if (is_first_rank(comm)) try_out(directory, files, place);
  });
}

void OutputFolder::create() {
  collectively(comm_, [&] {
    std::error_code code;
    if (is_first_rank(comm_)) fs::create_directories(directory_, code);
    if (code) throw Error("'" + directory_ + "' cannot be created: " + code.message(), ErrorKind::system);
  });
  created_ = true;
}

std::string OutputFolder::path(const std::string& name) const { return (fs::path(directory_) / name).string(); }

void OutputFolder::write(const std::string& name, const std::string& text) const {
  if (is_silent_) return;
  collectively(comm_, [&] {
    if (!is_first_rank(comm_)) return;
    const std::string final_name = path(name), partial = final_name + ".partial";
    std::error_code code;
    errno = 0;
    bool written = false;
    {
      std::ofstream file(partial, std::ios::binary);
      written = static_cast<bool>(file << text << std::flush);
    }
    if (!written) {
      const std::string reason = std::strerror(errno);
      fs::remove(partial, code);
      throw Error("'" + final_name + "' cannot be written: " + reason, ErrorKind::system);
    }
    fs::rename(partial, final_name, code);
    if (code) throw Error("'" + final_name + "' cannot be replaced: " + code.message(), ErrorKind::system);
  });
}

}  // namespace diffsim::app
