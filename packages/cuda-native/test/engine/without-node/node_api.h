// The types of Node's header that native/engine uses, for programs without Node.
#pragma once

using napi_env = struct napi_env_object*;
using napi_value = struct napi_value_object*;
using napi_callback_info = struct napi_callback_info_object*;
using napi_threadsafe_function = struct napi_threadsafe_function_object*;
using napi_ref = struct napi_ref_object*;
using napi_deferred = struct napi_deferred_object*;
