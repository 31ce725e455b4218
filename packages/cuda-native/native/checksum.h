// Checksums of memory on libuv's threads, so that the event loop goes on meanwhile.
#pragma once

#include <node_api.h>

namespace gpunvme {

// (view: DataView, offsetBytes, lengthBytes, chunkBytes, into: Uint32Array): a Promise that resolves when `into` has the
// CRC-32 of each chunk. The views are kept until then, and the mapping where the memory is a region of this addon's.
napi_value Checksum(napi_env env, napi_callback_info info);

// How they are computed on this processor.
napi_value ChecksumWay(napi_env env, napi_callback_info info);

}  // namespace gpunvme
