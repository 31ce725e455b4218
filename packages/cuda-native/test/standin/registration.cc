#include "standin/registration.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace standin {

namespace {

constexpr int kAccepted = 0, kInvalidValue = 1, kNotPermitted = 800;
constexpr uintptr_t kPage = 4096;

// How the module looks up page frames of a mapping with VM_IO or VM_PFNMAP (os-mlock.c, nv_follow_pfn). A module that
// supports one of these functions also supports those before it, and uses the first that the kernel exports.
enum class Lookup { kFollowPfn, kFollowPte, kFollowPfnmap };

struct Version {
  bool open;
  int from[3];
  Lookup lookup;
  // Whether pages with page structures in a PFNMAP mapping are accepted as ordinary memory (get_io_pages).
  bool pinsPfnmap;
  // Whether pages are pinned with FOLL_LONGTERM.
  bool longterm;
};

// Each row is valid until the next one of its variant and branch. A missing branch behaves like the previous one. Open:
// from os-mlock.c of all 193 tags of NVIDIA/open-gpu-kernel-modules. Proprietary: from the same file in packages of
// 550, 580 and 595, which support only follow_pfn, since the other functions are exported only to GPL modules. The
// other members of such a row are assumed to be as in the open variant.
constexpr Version kVersions[] = {
    {true, {535, 43, 2}, Lookup::kFollowPfn, true, false},
    {true, {535, 161, 7}, Lookup::kFollowPfn, false, false},
    {true, {535, 171, 4}, Lookup::kFollowPfn, false, true},
    {true, {535, 216, 1}, Lookup::kFollowPte, false, true},
    {true, {535, 247, 1}, Lookup::kFollowPfnmap, false, true},
    {true, {550, 40, 7}, Lookup::kFollowPfn, true, false},
    {true, {550, 54, 14}, Lookup::kFollowPfn, false, false},
    {true, {550, 67, 0}, Lookup::kFollowPfn, false, true},
    {true, {550, 90, 7}, Lookup::kFollowPte, false, true},
    {true, {550, 163, 1}, Lookup::kFollowPfnmap, false, true},
    {true, {570, 86, 15}, Lookup::kFollowPte, false, true},
    {true, {570, 133, 7}, Lookup::kFollowPfnmap, false, true},
    {true, {575, 51, 2}, Lookup::kFollowPfnmap, false, true},
    {true, {580, 65, 6}, Lookup::kFollowPfnmap, false, true},
    {true, {590, 44, 1}, Lookup::kFollowPfnmap, false, true},
    {false, {535, 43, 2}, Lookup::kFollowPfn, true, false},
    {false, {535, 161, 7}, Lookup::kFollowPfn, false, false},
    {false, {535, 171, 4}, Lookup::kFollowPfn, false, true},
    {false, {550, 40, 7}, Lookup::kFollowPfn, true, false},
    {false, {550, 54, 14}, Lookup::kFollowPfn, false, false},
    {false, {550, 67, 0}, Lookup::kFollowPfn, false, true},
    {false, {570, 86, 15}, Lookup::kFollowPfn, false, true},
};

struct Export {
  Lookup lookup;
  // First kernel that exports it, and first that no longer does; {0, 0} if all later ones do.
  int from[2], until[2];
};

// From Module.symvers and headers of 6.1, 6.12, 6.17, 7.0, 7.2 and 7.3.
constexpr Export kExports[] = {
    {Lookup::kFollowPfn, {0, 0}, {6, 10}},
    {Lookup::kFollowPte, {0, 0}, {6, 12}},
    {Lookup::kFollowPfnmap, {6, 12}, {0, 0}},
};

// From this kernel on, FOLL_LONGTERM rejects shared writable mappings of files with writeback.
constexpr int kNoFilePins[2] = {6, 5};

struct Mapping {
  uintptr_t start = 0, end = 0;
  std::string permissions, path, flags;
  // PFNMAP pages with page structures. Set only for pretended mappings, by "Frames: ram".
  bool isRam = false;
  // The file is on a block device.
  bool isOnDisk = false;
  // From the file of Machine.smaps: the real pages are ordinary memory.
  bool isPretended = false;

  bool Has(const char* flag) const { return (" " + flags + " ").find(std::string(" ") + flag + " ") != std::string::npos; }
  bool IsIo() const { return Has("io") || Has("pf"); }
};

std::vector<Mapping> ReadMappings(const std::string& path, bool isPretended) {
  std::vector<Mapping> mappings;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    unsigned long start, end;
    char permissions[5];
    unsigned major;
    int name = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %*s %x:%*s %*s %n", &start, &end, permissions, &major, &name) == 4) {
      const std::string path = name > 0 ? line.substr(static_cast<size_t>(name)) : "";
      mappings.push_back({start, end, permissions, path, "", false, major != 0, isPretended});
    } else if (!mappings.empty() && line.rfind("VmFlags: ", 0) == 0) {
      mappings.back().flags = line.substr(9);
    } else if (!mappings.empty() && line == "Frames: ram") {
      mappings.back().isRam = true;
    }
  }
  return mappings;
}

const Mapping* At(const std::vector<Mapping>& mappings, uintptr_t address) {
  for (const Mapping& mapping : mappings) {
    if (address >= mapping.start && address < mapping.end) return &mapping;
  }
  return nullptr;
}

template <size_t length>
bool IsBefore(const int (&left)[length], const int (&right)[length]) {
  return std::lexicographical_compare(std::begin(left), std::end(left), std::begin(right), std::end(right));
}

const Version& VersionOf(const Machine& machine) {
  const Version* found = nullptr;
  for (const Version& row : kVersions) {
    if (row.open != machine.open) continue;
    if (found == nullptr || !IsBefore(machine.driver, row.from)) found = &row;
  }
  return *found;
}

bool HasExport(const Machine& machine, const Export& row) {
  const bool isOver = row.until[0] != 0 && !IsBefore(machine.kernel, row.until);
  return !IsBefore(machine.kernel, row.from) && !isOver;
}

bool CanLookUp(const Machine& machine, Lookup most) {
  return std::any_of(std::begin(kExports), std::end(kExports),
                     [&](const Export& row) { return row.lookup <= most && HasExport(machine, row); });
}

// Returns whether pages are present. Assumes so for real PFNMAP mappings, which the kernel's pagemap does not describe.
bool ArePresent(const Mapping& mapping, uintptr_t first, uintptr_t end) {
  if (!mapping.isPretended) return true;
  const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  bool present = true;
  for (uintptr_t page = first; page < end && present; page += kPage) {
    uint64_t entry = 0;
    const auto at = static_cast<off_t>(page / kPage * sizeof entry);
    present = pread(fd, &entry, sizeof entry, at) != static_cast<ssize_t>(sizeof entry) || (entry >> 63) != 0;
  }
  close(fd);
  return present;
}

// Returns whether the kernel can access the pages, as for pin_user_pages: it cannot beyond the end of a file, or
// without read permission. Returns true if the check itself is not permitted.
bool CanBeRead(uintptr_t first, uintptr_t end) {
  constexpr size_t kMost = 512;
  for (uintptr_t page = first; page < end;) {
    char bytes[kMost];
    iovec from[kMost];
    size_t count = 0;
    for (; count < kMost && page < end; page += kPage) from[count++] = {reinterpret_cast<void*>(page), 1};
    iovec to{bytes, count};
    const ssize_t read = process_vm_readv(getpid(), &to, 1, from, count, 0);
    if (read < 0 ? errno == EFAULT : static_cast<size_t>(read) < count) return false;
  }
  return true;
}

bool IsFileOnDisk(const Mapping& mapping) {
  if (mapping.isOnDisk) return true;
  if (mapping.path.empty() || mapping.path[0] != '/') return false;
  constexpr long kTmpfs = 0x01021994, kHugetlbfs = 0x958458f6, kRamfs = 0x858458f6;
  struct statfs found;
  // A memfd has no path.
  if (statfs(mapping.path.c_str(), &found) != 0) return false;
  return found.f_type != kTmpfs && found.f_type != kHugetlbfs && found.f_type != kRamfs;
}

bool CanPin(const Machine& machine, const Mapping& mapping, const Version& version) {
  const bool isShared = mapping.permissions[3] == 's';
  if (mapping.IsIo() || mapping.permissions[1] != 'w') return false;
  const bool refusesFiles = version.longterm && !IsBefore(machine.kernel, kNoFilePins);
  return !(refusesFiles && isShared && IsFileOnDisk(mapping));
}

// Like os_lookup_user_io_memory: requires a single mapping with VM_IO or VM_PFNMAP, whose pages are present.
bool CanFollow(const Machine& machine, const Mapping& mapping, const Version& version, uintptr_t first, uintptr_t end) {
  return mapping.IsIo() && end <= mapping.end && CanLookUp(machine, version.lookup) && ArePresent(mapping, first, end);
}

}  // namespace

bool ReadMachine(const std::string& text, Machine* machine) {
  Machine read = *machine;
  char variant[16], user[8] = "";
  char version[32];
  read.driver[2] = 0;
  const int words =
      std::sscanf(text.c_str(), "%15s %31s %d.%d %7s", variant, version, &read.kernel[0], &read.kernel[1], user);
  if (words < 4) return false;
  if (std::sscanf(version, "%d.%d.%d", &read.driver[0], &read.driver[1], &read.driver[2]) < 2) return false;
  read.open = std::strcmp(variant, "open") == 0;
  if (!read.open && std::strcmp(variant, "proprietary") != 0) return false;
  read.isUser = std::strcmp(user, "user") == 0;
  *machine = read;
  return true;
}

int JudgeRegistration(const Machine& machine, uintptr_t first, size_t bytes, bool isIoMemory) {
  std::vector<Mapping> mappings;
  if (!machine.smaps.empty()) mappings = ReadMappings(machine.smaps, true);
  const Version& version = VersionOf(machine);
  const uintptr_t end = first + bytes;
  // Pages of pretended registers must not be touched here: pages that were never accessed are not present.
  const Mapping* pretended = At(mappings, first);
  const bool isPretendedIo = pretended != nullptr && pretended->IsIo();
  const bool canBeRead = !isPretendedIo && CanBeRead(first, end);
  // The kernel cannot read mappings with VM_IO or VM_PFNMAP. It computes smaps, which has the flags, only slowly.
  const std::vector<Mapping> real = ReadMappings(canBeRead || isPretendedIo ? "/proc/self/maps" : "/proc/self/smaps", false);
  mappings.insert(mappings.end(), real.begin(), real.end());
  const Mapping* mapping = At(mappings, first);
  if (mapping == nullptr) return kInvalidValue;
  bool canPin = CanPin(machine, *mapping, version);
  for (const Mapping* next = mapping; canPin && next->end < end;) {
    next = At(mappings, next->end);
    canPin = next != nullptr && CanPin(machine, *next, version);
  }
  canPin = canPin && canBeRead;
  // Pages that can be pinned are registered only as cached memory (osCreateOsDescriptorFromPageArray).
  if (canPin) return isIoMemory ? kInvalidValue : kAccepted;
  if (!CanFollow(machine, *mapping, version, first, end)) return kInvalidValue;
  if (version.pinsPfnmap && mapping->isRam) return isIoMemory ? kInvalidValue : kAccepted;
  // Other pages are registered only as uncached, contiguous registers, by an administrator
  // (osCreateOsDescriptorFromIoMemory).
  if (!isIoMemory) return kInvalidValue;
  return machine.isUser ? kNotPermitted : kAccepted;
}

}  // namespace standin
