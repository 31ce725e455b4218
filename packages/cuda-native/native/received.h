// Descriptors that another process has sent. A call on such a file can block on its file system forever: even SIGKILL does
// not interrupt fstat(2), fstatfs(2), close(2) or process exit on FUSE.
#pragma once

#include <node_api.h>

namespace gpunvme {

// Closes a descriptor without waiting for its file system.
void CloseReceived(int fd);

// For JavaScript: returns whether the kernel alone serves calls on a descriptor; and CloseReceived.
napi_value NeverWaits(napi_env env, napi_callback_info info);
napi_value CloseReceived(napi_env env, napi_callback_info info);

}  // namespace gpunvme
