#include "engine_api.h"

#include <memory>
#include <utility>
#include <vector>

#include "checks.h"
#include "handles.h"
#include "session.h"
#include "values.h"
#include "waker.h"

namespace gpunvme {

namespace {

// Time limit for leaders to end after they were stopped.
constexpr uint64_t kDetachLimitNs = 5'000'000'000;

struct Engine {
  // Leaders call it until they have ended.
  Waker waker;
  bool ended = true;
  std::unique_ptr<Session> session;
  std::vector<QueueLayout> layouts;
  // Generations per queue, copied from JavaScript and kept while the queues are attached.
  std::vector<std::vector<uint16_t>> generations;
};

struct TableHandle {
  std::shared_ptr<RunTable> table;
};

// Reads properties, and records whether one was invalid; an exception is then pending. Getters may call any function,
// including `engineClose`: after the last property was read, only copied values are valid.
class Reader {
 public:
  Reader(napi_env env, napi_value object) : env_(env), object_(object) {}

  napi_value Get(const char* name) {
    napi_value value = nullptr;
    if (ok_ && napi_get_named_property(env_, object_, name, &value) != napi_ok) Fail(name, nullptr);
    return value;
  }
  double Number(const char* name, double most) {
    double value = 0;
    napi_value got = Get(name);
    if (ok_ && !ReadInteger(env_, got, name, 0, most, &value)) ok_ = false;
    return value;
  }
  uint32_t Word(const char* name) { return static_cast<uint32_t>(Number(name, UINT32_MAX)); }
  uint64_t Long(const char* name) { return static_cast<uint64_t>(Number(name, kMaxSafeInteger)); }
  uint64_t Address(const char* name) {
    uint64_t value = 0;
    napi_value got = Get(name);
    if (ok_ && !ReadBigInt(env_, got, name, &value)) ok_ = false;
    return value;
  }
  bool Flag(const char* name) {
    bool value = false;
    napi_value got = Get(name);
    if (ok_ && napi_get_value_bool(env_, got, &value) != napi_ok) Fail(name, got);
    return value;
  }
  Memory Place(const char* name) {
    Reader place(env_, Get(name));
    const Memory memory = {place.Address("address"), place.Long("lengthBytes"), place.Flag("onDevice")};
    ok_ = ok_ && place.ok_;
    return memory;
  }
  template <typename T>
  std::vector<T> Elements(const char* name, napi_typedarray_type wanted) {
    napi_typedarray_type type;
    size_t length = 0;
    void* data = nullptr;
    napi_value got = Get(name);
    if (!ok_) return {};
    if (napi_get_typedarray_info(env_, got, &type, &length, &data, nullptr, nullptr) != napi_ok || type != wanted) {
      Fail(name, got);
      return {};
    }
    return {static_cast<const T*>(data), static_cast<const T*>(data) + length};
  }
  std::vector<napi_value> List(const char* name, uint32_t most) {
    uint32_t length = 0;
    napi_value got = Get(name);
    if (ok_ && napi_get_array_length(env_, got, &length) != napi_ok) Fail(name, got);
    if (ok_ && length > most) {
      ThrowRange(env_, name, ("at most " + std::to_string(most) + " elements").c_str(), gpunvme::Number(env_, length));
      ok_ = false;
    }
    if (!ok_) return {};
    std::vector<napi_value> values(length);
    for (uint32_t index = 0; index < length; index++) {
      if (ok_ && napi_get_element(env_, got, index, &values[index]) != napi_ok) Fail(name, nullptr);
    }
    return ok_ ? values : std::vector<napi_value>();
  }
  bool ok() const { return ok_; }
  void And(const Reader& other) { ok_ = ok_ && other.ok_; }

 private:
  void Fail(const char* name, napi_value got) {
    ok_ = false;
    bool pending = false;
    napi_is_exception_pending(env_, &pending);
    if (pending) return;
    if (got == nullptr) napi_get_undefined(env_, &got);
    ThrowType(env_, name, "the type that the engine's class passes", got);
  }

  const napi_env env_;
  const napi_value object_;
  bool ok_ = true;
};

Engine* AnyEngine(napi_env env, napi_value value) {
  return Handles<Engine>::Of(env, value, "engine", "an engine's handle");
}

TableHandle* TableOf(napi_env env, napi_value value, const char* name) {
  return Handles<TableHandle>::Of(env, value, name, "the handle of a table from engineDescribe");
}

// Returns an engine that is not closed.
Engine* EngineOf(napi_env env, napi_value value) {
  Engine* engine = AnyEngine(env, value);
  if (engine != nullptr && engine->session == nullptr) {
    napi_throw_type_error(env, "ERR_GPUNVME_CLOSED", "The engine is closed: create another one");
    return nullptr;
  }
  return engine;
}

bool ReadFlag(napi_env env, napi_value value, const char* name, bool* result) {
  if (napi_get_value_bool(env, value, result) == napi_ok) return true;
  ThrowType(env, name, "a boolean", value);
  return false;
}

// Ends the engine's leaders. Leaders that do not end keep their memory, and a stopped waker.
void End(Engine* engine) {
  if (engine->session == nullptr) return;
  engine->session->Halt(true);
  if (engine->session->attached()) static_cast<void>(engine->session->Detach(kDetachLimitNs, &engine->layouts));
  engine->ended = !engine->session->abandoned();
  engine->session.reset();
  engine->waker.Stop();
}

void EndAtExit(void* data) { End(static_cast<Engine*>(data)); }

napi_value Undefined(napi_env env) {
  napi_value undefined;
  napi_get_undefined(env, &undefined);
  return undefined;
}

// (engine, BigUint64Array iovas, shift, lengthBytes) -> a table for `post` and `attach`; null if there is currently no
// room
napi_value Describe(napi_env env, napi_callback_info info) {
  napi_value arguments[4], result;
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  napi_typedarray_type type;
  size_t length;
  void* data;
  double shift, bytes;
  if (engine == nullptr) return nullptr;
  if (napi_get_typedarray_info(env, arguments[1], &type, &length, &data, nullptr, nullptr) != napi_ok ||
      type != napi_biguint64_array || length == 0) {
    ThrowType(env, "iovas", "a BigUint64Array of one address or more", arguments[1]);
    return nullptr;
  }
  if (!ReadInteger(env, arguments[2], "shift", 12, 63, &shift)) return nullptr;
  if (!ReadInteger(env, arguments[3], "lengthBytes", 1, kMaxSafeInteger, &bytes)) return nullptr;
  auto handle = std::make_unique<TableHandle>();
  const auto* iovas = static_cast<const uint64_t*>(data);
  const Problem problem = engine->session->Describe({iovas, iovas + length}, static_cast<uint32_t>(shift),
                                                    static_cast<uint64_t>(bytes), &handle->table);
  if (problem) {
    ThrowProblem(env, problem);
    return nullptr;
  }
  if (handle->table == nullptr) {
    napi_get_null(env, &result);
    return result;
  }
  return Handles<TableHandle>::Create(env, handle.release(), [](napi_env, TableHandle* table) { delete table; });
}

bool ReadQueue(napi_env env, napi_value value, QueueLayout* queue, std::vector<uint16_t>* generations) {
  Reader from(env, value);
  queue->sq = from.Place("sq");
  queue->cq = from.Place("cq");
  queue->prp_lists = from.Place("prpLists");
  napi_value runs = from.Get("prpListRuns");
  queue->qid = from.Word("qid");
  queue->entries = from.Word("entries");
  queue->sq_tail = from.Word("sqTail");
  queue->cq_head = from.Word("cqHead");
  queue->phase = from.Word("phase");
  queue->in_flight = from.Word("maxInFlight");
  queue->prp_list_bytes = from.Word("prpListBytes");
  queue->page_bytes = from.Word("pageBytes");
  queue->tail_doorbell = from.Long("sqTailDoorbell");
  queue->head_doorbell = from.Long("cqHeadDoorbell");
  *generations = from.Elements<uint16_t>("generations", napi_uint16_array);
  if (!from.ok()) return false;
  const TableHandle* table = TableOf(env, runs, "prpListRuns");
  if (table == nullptr) return false;
  queue->prp_list_runs = table->table;
  if (generations->size() >= queue->in_flight) return true;
  ThrowRange(env, "generations", "one per command in flight", Number(env, static_cast<double>(generations->size())));
  return false;
}

// (engine, { registers, registersAreMemory, queues })
napi_value Attach(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  if (EngineOf(env, arguments[0]) == nullptr) return nullptr;
  Reader from(env, arguments[1]);
  const Memory registers = from.Place("registers");
  const bool are_memory = from.Flag("registersAreMemory");
  std::vector<QueueLayout> layouts;
  std::vector<std::vector<uint16_t>> generations;
  for (napi_value queue : from.List("queues", kMaxQueues)) {
    if (!ReadQueue(env, queue, &layouts.emplace_back(), &generations.emplace_back())) return nullptr;
    layouts.back().generations = generations.back().data();
  }
  if (!from.ok()) return nullptr;
  Engine* engine = EngineOf(env, arguments[0]);
  if (engine == nullptr) return nullptr;
  if (const Problem problem = engine->session->Attach(registers, are_memory, layouts)) {
    ThrowProblem(env, problem);
    return nullptr;
  }
  engine->layouts = std::move(layouts);
  engine->generations = std::move(generations);
  return Undefined(env);
}

// Reads an array of a plan. No getter runs while the elements are in use.
template <typename T>
bool ReadColumn(napi_env env, napi_value value, const char* name, napi_typedarray_type wanted, uint32_t commands,
                const T** elements) {
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok || type != wanted) {
    ThrowType(env, name, "a typed array of the type that NativePlan states", value);
    return false;
  }
  *elements = static_cast<const T*>(data);
  if (length == commands) return true;
  ThrowRange(env, name, "one entry per command", Number(env, static_cast<double>(length)));
  return false;
}

// (engine, id, plan, table) -> false if there is no room until other plans complete
napi_value Post(napi_env env, napi_callback_info info) {
  napi_value arguments[4], result;
  Arguments(env, info, arguments);
  double id;
  if (EngineOf(env, arguments[0]) == nullptr) return nullptr;
  if (!ReadInteger(env, arguments[1], "id", 0, UINT32_MAX, &id)) return nullptr;
  Reader from(env, arguments[2]);
  Plan plan{};
  plan.opcode = from.Word("opcode");
  plan.nsid = from.Word("nsid");
  plan.block_bytes = from.Word("blockBytes");
  plan.commands = from.Word("commands");
  plan.timeout_ns = from.Long("timeoutNs");
  napi_value slba = from.Get("slba"), blocks = from.Get("blocks"), offset = from.Get("offsetBytes"), queue = from.Get("queue");
  if (!from.ok()) return nullptr;
  if (!ReadColumn(env, slba, "slba", napi_float64_array, plan.commands, &plan.slba) ||
      !ReadColumn(env, blocks, "blocks", napi_uint32_array, plan.commands, &plan.blocks) ||
      !ReadColumn(env, offset, "offsetBytes", napi_float64_array, plan.commands, &plan.offset) ||
      !ReadColumn(env, queue, "queue", napi_uint16_array, plan.commands, &plan.queue)) {
    return nullptr;
  }
  const TableHandle* table = TableOf(env, arguments[3], "table");
  const Engine* engine = table == nullptr ? nullptr : EngineOf(env, arguments[0]);
  if (engine == nullptr) return nullptr;
  bool posted = false;
  if (const Problem problem = engine->session->Post(static_cast<uint32_t>(id), plan, table->table, &posted)) {
    ThrowProblem(env, problem);
    return nullptr;
  }
  napi_get_boolean(env, posted, &result);
  return result;
}

napi_value Cancel(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  double id;
  if (engine == nullptr || !ReadInteger(env, arguments[1], "id", 0, UINT32_MAX, &id)) return nullptr;
  engine->session->Cancel(static_cast<uint32_t>(id));
  return Undefined(env);
}

// (engine, lost)
napi_value Halt(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  bool lost;
  if (engine == nullptr || !ReadFlag(env, arguments[1], "lost", &lost)) return nullptr;
  engine->session->Halt(lost);
  return Undefined(env);
}

void Set(napi_env env, napi_value object, const char* name, double value) {
  napi_set_named_property(env, object, name, Number(env, value));
}

// (engine) -> completed plans: [{ id, succeeded, bytes, failures }]; a failure is three consecutive numbers: the
// command, its ending, and CID << 16 | status
napi_value Poll(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  if (engine == nullptr) return nullptr;
  std::vector<Finished> finished;
  if (const Problem problem = engine->session->Poll(&finished)) {
    ThrowProblem(env, problem);
    return nullptr;
  }
  napi_create_array_with_length(env, finished.size(), &result);
  for (size_t index = 0; index < finished.size(); index++) {
    const Finished& each = finished[index];
    napi_value object, buffer, failures;
    void* data = nullptr;
    napi_create_object(env, &object);
    Set(env, object, "id", each.id);
    Set(env, object, "succeeded", each.succeeded);
    Set(env, object, "bytes", each.bytes);
    const size_t words = 3 * each.failures.size();
    napi_create_arraybuffer(env, words * sizeof(uint32_t), &data, &buffer);
    napi_create_typedarray(env, napi_uint32_array, words, buffer, 0, &failures);
    auto* word = static_cast<uint32_t*>(data);
    for (const Failure& failure : each.failures) {
      *word++ = failure.command;
      *word++ = static_cast<uint32_t>(failure.outcome >> OUTCOME_ENDING_SHIFT);
      *word++ = static_cast<uint32_t>(failure.outcome);
    }
    napi_set_named_property(env, object, "failures", failures);
    napi_set_element(env, result, static_cast<uint32_t>(index), object);
  }
  return result;
}

// (engine) -> { halted, heartbeat, commands, doorbellWrites, staleCompletions }
napi_value Look(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result, halted;
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  if (engine == nullptr) return nullptr;
  const Counters counters = engine->session->counters();
  napi_create_object(env, &result);
  napi_get_boolean(env, engine->session->halted(), &halted);
  napi_set_named_property(env, result, "halted", halted);
  Set(env, result, "heartbeat", static_cast<double>(engine->session->Heartbeat()));
  Set(env, result, "commands", static_cast<double>(counters.commands));
  Set(env, result, "doorbellWrites", static_cast<double>(counters.doorbell_writes));
  Set(env, result, "staleCompletions", static_cast<double>(counters.stale));
  return result;
}

// (engine) -> number of consecutive calls, including this one, in which a leader with work made no progress
napi_value Watch(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  return engine == nullptr ? nullptr : Number(env, engine->session->Watch());
}

// (engine, hold): whether the engine keeps the program alive
napi_value Hold(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  bool hold;
  if (engine == nullptr || !ReadFlag(env, arguments[1], "hold", &hold)) return nullptr;
  engine->waker.Hold(env, hold);
  return Undefined(env);
}

// (engine) -> per queue { sqTail, cqHead, phase, generations }
napi_value Detach(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  Engine* engine = EngineOf(env, arguments[0]);
  if (engine == nullptr) return nullptr;
  if (const Problem problem = engine->session->Detach(kDetachLimitNs, &engine->layouts)) {
    ThrowProblem(env, problem);
    return nullptr;
  }
  napi_create_array_with_length(env, engine->layouts.size(), &result);
  for (uint32_t number = 0; number < engine->layouts.size(); number++) {
    const QueueLayout& layout = engine->layouts[number];
    napi_value queue, buffer, generations;
    void* data = nullptr;
    napi_create_object(env, &queue);
    Set(env, queue, "sqTail", layout.sq_tail);
    Set(env, queue, "cqHead", layout.cq_head);
    Set(env, queue, "phase", layout.phase);
    napi_create_arraybuffer(env, layout.in_flight * sizeof(uint16_t), &data, &buffer);
    std::copy(layout.generations, layout.generations + layout.in_flight, static_cast<uint16_t*>(data));
    napi_create_typedarray(env, napi_uint16_array, layout.in_flight, buffer, 0, &generations);
    napi_set_named_property(env, queue, "generations", generations);
    napi_set_element(env, result, number, queue);
  }
  return result;
}

napi_value Close(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  Engine* engine = AnyEngine(env, arguments[0]);
  if (engine == nullptr) return nullptr;
  if (engine->session != nullptr) napi_remove_env_cleanup_hook(env, EndAtExit, engine);
  End(engine);
  return Undefined(env);
}

// (view) -> the address of its first byte
napi_value ViewAddress(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  napi_typedarray_type type;
  size_t length;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, arguments[0], &type, &length, &data, nullptr, nullptr) != napi_ok) {
    ThrowType(env, "view", "a typed array", arguments[0]);
    return nullptr;
  }
  napi_create_bigint_uint64(env, reinterpret_cast<uintptr_t>(data), &result);
  return result;
}

}  // namespace

void ThrowProblem(napi_env env, const Problem& problem) {
  if (problem.invalid) {
    napi_throw_range_error(env, nullptr, problem.text.c_str());
    return;
  }
  napi_value error, message, call, name, text_of;
  const std::string text = problem.call + ": " + problem.text + " (" + problem.name + ")";
  napi_create_string_utf8(env, text.c_str(), text.size(), &message);
  napi_create_error(env, nullptr, message, &error);
  napi_create_string_utf8(env, problem.call.c_str(), problem.call.size(), &call);
  napi_create_string_utf8(env, problem.name.c_str(), problem.name.size(), &name);
  napi_create_string_utf8(env, problem.text.c_str(), problem.text.size(), &text_of);
  napi_set_named_property(env, error, "call", call);
  napi_set_named_property(env, error, "result", name);
  napi_set_named_property(env, error, "description", text_of);
  Set(env, error, "resultCode", problem.code);
  napi_value dead;
  napi_get_boolean(env, problem.dead, &dead);
  napi_set_named_property(env, error, "dead", dead);
  if (!problem.what.empty()) {
    napi_value what, address;
    napi_create_string_utf8(env, problem.what.c_str(), problem.what.size(), &what);
    napi_create_bigint_uint64(env, problem.address, &address);
    napi_set_named_property(env, error, "what", what);
    napi_set_named_property(env, error, "address", address);
    Set(env, error, "lengthBytes", static_cast<double>(problem.bytes));
  }
  napi_throw(env, error);
}

napi_value CreateEngine(napi_env env, std::shared_ptr<Executor> executor, napi_value options, napi_value on_wake) {
  Reader from(env, options);
  LeaderOptions chosen{};
  chosen.linger_ns = from.Long("lingerNs");
  chosen.run_limit_ns = from.Long("runLimitNs");
  chosen.clock = from.Address("clock");
  chosen.forwards_doorbells = from.Flag("forwardsDoorbells");
  if (!from.ok()) return nullptr;
  auto engine = std::make_unique<Engine>();
  if (!engine->waker.Start(env, on_wake)) {
    ThrowType(env, "onWake", "a function", on_wake);
    return nullptr;
  }
  executor->Wakes(&engine->waker);
  engine->session = std::make_unique<Session>(std::move(executor), chosen, &engine->waker);
  napi_add_env_cleanup_hook(env, EndAtExit, engine.get());
  // A collected engine is ended. If its leaders do not end, the objects that they may call are not deleted.
  const auto forget = [](napi_env of, Engine* forgotten) {
    if (forgotten->session != nullptr) napi_remove_env_cleanup_hook(of, EndAtExit, forgotten);
    End(forgotten);
    if (forgotten->ended) delete forgotten;
  };
  return Handles<Engine>::Create(env, engine.release(), forget);
}

bool ExportEngineFunctions(napi_env env, napi_value exports) {
  constexpr struct {
    const char* name;
    napi_callback function;
  } kFunctions[] = {
      {"engineDescribe", Describe}, {"engineAttach", Attach}, {"enginePost", Post},     {"engineCancel", Cancel},
      {"engineHalt", Halt},         {"enginePoll", Poll},     {"engineLook", Look},     {"engineHold", Hold},
      {"engineWatch", Watch},
      {"engineDetach", Detach},     {"engineClose", Close},   {"viewAddress", ViewAddress},
  };
  for (const auto& [name, function] : kFunctions) {
    napi_value value;
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, function, nullptr, &value) != napi_ok) return false;
    napi_set_named_property(env, exports, name, value);
  }
  return true;
}

}  // namespace gpunvme
