// Descriptors that another process has sent. Its file system decides how long a call on such a file takes, and may never
// answer: FUSE does not interrupt fstat(2), fstatfs(2), close(2) or the end of a process, not even by SIGKILL.
#pragma once

#include <node_api.h>

namespace gpunvme {

// Closes a descriptor without waiting for its file system.
void CloseReceived(int fd);

// For JavaScript: whether calls on a descriptor are answered by the kernel alone, and CloseReceived.
napi_value NeverWaits(napi_env env, napi_callback_info info);
napi_value CloseReceived(napi_env env, napi_callback_info info);

}  // namespace gpunvme
