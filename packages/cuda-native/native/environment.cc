#include "environment.h"

namespace gpunvme {

namespace {

// Ends the environment's mappings of files. Memory that it allocated stays until the process ends, since a device may
// still write to it.
void EndEnvironment(void* data) {
  auto& environment = *static_cast<Environment*>(data);
  for (Region* region : environment.owned) {
    if (region->allocated) continue;
    EndRegion(region);
    ReleaseRegion(region);
  }
  environment.owned.clear();
}

void DeleteInstance(napi_env, void* data, void*) {
  delete static_cast<std::shared_ptr<Environment>*>(data);
}

bool IsAttached(napi_env env, const TrackedView& view) {
  napi_value buffer = nullptr;
  bool detached = true;
  napi_get_reference_value(env, view.buffer, &buffer);
  return buffer != nullptr && napi_is_detached_arraybuffer(env, buffer, &detached) == napi_ok && !detached;
}

// When an environment ends, Node.js detaches and finalizes all external ArrayBuffers, the newest first, even if their memory
// was moved and is in use. An ArrayBuffer that is newer than all views reports the end while the state of the views is
// still available: a thread that outlives this one may have received moved memory, whose mapping then remains for the
// rest of the process.
void KeepMovedViews(napi_env env, void*, void* hint) {
  std::unique_ptr<Sentinel> sentinel(static_cast<Sentinel*>(hint));
  Environment& environment = *sentinel->environment;
  if (environment.sentinel != sentinel.get()) return;
  environment.sentinel = nullptr;
  for (TrackedView* view : environment.views) {
    if (!IsAttached(env, *view)) view->region = nullptr;
  }
}

void RenewSentinel(napi_env env, std::shared_ptr<Environment> environment) {
  Environment& of = *environment;
  if (of.sentinel != nullptr) napi_delete_reference(env, of.sentinel->buffer);
  of.sentinel = new Sentinel{std::move(environment)};
  napi_value buffer;
  napi_create_external_arraybuffer(env, &of.sentinel->byte, 1, KeepMovedViews, of.sentinel, &buffer);
  napi_create_reference(env, buffer, 1, &of.sentinel->buffer);
}

void FinalizeView(napi_env env, void*, void* hint) {
  auto* view = static_cast<TrackedView*>(hint);
  view->environment->views.erase(view);
  if (view->region != nullptr) ReleaseRegion(view->region);
  if (view->buffer != nullptr) napi_delete_reference(env, view->buffer);
  delete view;
}

}  // namespace

void CreateEnvironment(napi_env env) {
  auto* environment = new std::shared_ptr<Environment>(std::make_shared<Environment>());
  napi_set_instance_data(env, environment, DeleteInstance, nullptr);
  napi_add_env_cleanup_hook(env, EndEnvironment, environment->get());
}

std::shared_ptr<Environment> EnvironmentOf(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return *static_cast<std::shared_ptr<Environment>*>(data);
}

napi_value CreateView(napi_env env, Region* region, uint8_t* start, size_t length) {
  auto* view = new TrackedView{EnvironmentOf(env), region, nullptr};
  napi_value buffer;
  const napi_status status = napi_create_external_arraybuffer(env, start, length, FinalizeView, view, &buffer);
  if (status != napi_ok) {
    ReleaseRegion(region);
    delete view;
    if (status == napi_no_external_buffers_allowed) {
      napi_throw_error(env, "ERR_GPUNVME_NO_EXTERNAL_BUFFERS",
                       "buffer: this runtime does not allow an ArrayBuffer over native memory (Electron, or a build "
                       "with pointer compression); use Node.js, or only the region's loads and stores");
    } else {
      napi_throw_error(env, nullptr, "buffer: the ArrayBuffer could not be created");
    }
    return nullptr;
  }
  view->environment->views.insert(view);
  napi_create_reference(env, buffer, 0, &view->buffer);
  RenewSentinel(env, view->environment);
  return buffer;
}

void DetachViews(napi_env env, Environment& environment, Region* region) {
  for (TrackedView* view : environment.views) {
    if (view->region != region || !IsAttached(env, *view)) continue;
    napi_value buffer = nullptr;
    napi_get_reference_value(env, view->buffer, &buffer);
    if (napi_detach_arraybuffer(env, buffer) != napi_ok) continue;
    view->region = nullptr;
    ReleaseRegion(region);
  }
}

}  // namespace gpunvme
