// Which registrations of host memory NVIDIA's driver refuses, by its variant and version, the kernel and the mapping.
//
// What the kernel module does is read from its sources; what it returns was measured in one case (ordinary memory given
// as registers, H100 and H200, open 580.159.04) and is assumed to be the same in the others.
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
  // A file of mappings that stand before those of /proc/self/smaps, in the same format; none if empty.
  std::string smaps;
};

// "open 580.95.05 6.12", and "user" behind it for a process without privileges. False, and nothing changed, for another text.
bool ReadMachine(const std::string& text, Machine* machine);

// The CUresult of registering pages: 0 if the driver accepts them.
int JudgeRegistration(const Machine& machine, uintptr_t first, size_t bytes, bool isIoMemory);

}  // namespace standin
