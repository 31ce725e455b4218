// Checksums of memory, and reads of files with checksums, on libuv's threads, without blocking the event loop.
#pragma once

#include <node_api.h>

namespace gpunvme {

// (view: DataView, offsetBytes, lengthBytes, chunkBytes, into: Uint32Array) -> a Promise that resolves when `into` has
// the CRC-32 of each chunk. Views are kept until then, and the mapping if the memory is a region of this addon.
napi_value Checksum(napi_env env, napi_callback_info info);

// (fd, fileOffsetBytes, view: DataView, offsetBytes, lengthBytes, chunkBytes, summedBytes, into: Uint32Array) -> a Promise
// that resolves with the number of bytes read, fewer at the end of the file, when `into` has the CRC-32 of each chunk of the
// first `summedBytes`; undefined, and nothing is read, if the memory cannot be kept until then. The caller keeps the file open.
napi_value ReadFile(napi_env env, napi_callback_info info);

// Returns the method that this processor uses.
napi_value ChecksumWay(napi_env env, napi_callback_info info);

}  // namespace gpunvme
