// Predicts which registrations of host memory NVIDIA's driver rejects, by its variant and version, the kernel and the
// mapping.
//
// The rules are from the sources of the kernel module. The error was measured in one case (ordinary memory registered
// as registers; H100 and H200, open 580.159.04), and is assumed to be the same in the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace standin {

// The machine that the stand-in pretends to be.
struct Machine {
  bool open = true;
  int driver[3] = {580, 159, 4};
  int kernel[2] = {6, 18};
  // Without CAP_SYS_ADMIN, and without the registry key PeerMappingOverride.
  bool isUser = false;
  // File of mappings that take precedence over those of /proc/self/smaps, in the same format. Empty: none.
  std::string smaps;
};

// Parses "open 580.95.05 6.12", followed by "user" for a process without privileges. Returns false for an invalid text,
// and leaves `machine` unchanged.
bool ReadMachine(const std::string& text, Machine* machine);

// Returns the CUresult of registering pages: 0 if the driver accepts them.
int JudgeRegistration(const Machine& machine, uintptr_t first, size_t bytes, bool isIoMemory);

}  // namespace standin
