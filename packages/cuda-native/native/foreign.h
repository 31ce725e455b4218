// Mappings of files that belong to somebody else, who may cut them short at any time. An access to a page that the file
// has no more is SIGBUS, which would end the process: here it puts a page of zeroes in that place instead, and the access
// happens there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpunvme {

struct Foreign;

// Takes a mapping of `length` bytes, which is readable and writable, under its guard: before anybody accesses it.
Foreign* GuardForeign(void* base, size_t length, size_t page);

// Ends that: when nobody accesses it any more, and before it is unmapped.
void ForgetForeign(Foreign* foreign);

// How much was replaced in this process so far. A page that two threads come to at once may count twice.
uint64_t LostForeign();

}  // namespace gpunvme
