// Mappings of files that another process may truncate at any time. An access to a page beyond the file's end raises
// SIGBUS, which would end the process. Here the handler maps a page of zeroes in its place, and the access is repeated
// there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpunvme {

struct Foreign;

// Guards a readable and writable mapping of `length` bytes. Call it before any access.
Foreign* GuardForeign(void* base, size_t length, size_t page);

// Ends the guard. Call it after the last access and before the mapping is unmapped.
void ForgetForeign(Foreign* foreign);

// Returns the number of bytes replaced in this process. A page that two threads access at once may count twice.
uint64_t LostForeign();

}  // namespace gpunvme
