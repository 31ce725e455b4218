#include "environment.h"

namespace gpunvme {

namespace {

// The environment ends, perhaps in the middle of a transfer: what it mapped has no owner any more. A device may still
// write to what it allocated, and nobody is left to stop that: the process keeps it.
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
                       "buffer: this runtime allows no ArrayBuffer over native memory, as Electron and builds with "
                       "pointer compression do not; use Node.js, or the region's loads and stores alone");
    } else {
      napi_throw_error(env, nullptr, "buffer: the ArrayBuffer could not be made");
    }
    return nullptr;
  }
  view->environment->views.insert(view);
  napi_create_reference(env, buffer, 0, &view->buffer);
  return buffer;
}

void DetachViews(napi_env env, Environment& environment, Region* region) {
  for (TrackedView* view : environment.views) {
    if (view->region != region) continue;
    napi_value buffer = nullptr;
    napi_get_reference_value(env, view->buffer, &buffer);
    // Where it is gone already, its bytes can be reached no more; where it cannot be emptied, they stay for its sake.
    if (buffer != nullptr && napi_detach_arraybuffer(env, buffer) != napi_ok) continue;
    view->region = nullptr;
    ReleaseRegion(region);
  }
}

}  // namespace gpunvme
