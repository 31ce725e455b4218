// A minimal native module: memory that both threads can view, sched_yield, and a host thread that uses the controller
// with plain loads and stores, with numbers from the figures of the specification.
#define _GNU_SOURCE
#include <node_api.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ENTRIES 32u
#define PAGE 4096u

static void *mapping(napi_env env, napi_value value)
{
	uint64_t address;
	bool lossless;
	napi_get_value_bigint_uint64(env, value, &address, &lossless);
	return (void *)(uintptr_t)address;
}

static void keep(napi_env env, void *data, void *hint) { (void)env, (void)data, (void)hint; }

static napi_value map(napi_env env, napi_callback_info info)
{
	napi_value argument, result;
	size_t count = 1;
	uint32_t length;
	napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
	napi_get_value_uint32(env, argument, &length);
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	napi_create_bigint_uint64(env, memory == MAP_FAILED ? 0 : (uintptr_t)memory, &result);
	return result;
}

static napi_value view(napi_env env, napi_callback_info info)
{
	napi_value arguments[2], result;
	size_t count = 2;
	uint32_t length;
	napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
	napi_get_value_uint32(env, arguments[1], &length);
	if (napi_create_external_arraybuffer(env, mapping(env, arguments[0]), length, keep, NULL, &result) != napi_ok)
		return NULL;
	return result;
}

static napi_value yield(napi_env env, napi_callback_info info)
{
	(void)env, (void)info;
	sched_yield();
	return NULL;
}

static struct host {
	pthread_t thread;
	uint8_t *bar, *dma;
	uint32_t commands;
	uint32_t tail[2], head[2], phase[2];
	const char *outcome;
	int done;
} host;

static uint32_t load(const uint8_t *at) { return __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE); }
static void store(uint8_t *at, uint32_t value) { __atomic_store_n((uint32_t *)at, value, __ATOMIC_RELEASE); }

static int wait_ms_over(struct timespec *start)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sched_yield();
	return now.tv_sec - start->tv_sec > 30;
}

static int wait_for(const uint8_t *at, uint32_t mask, uint32_t wanted)
{
	struct timespec start;
	clock_gettime(CLOCK_MONOTONIC, &start);
	while ((load(at) & mask) != wanted)
		if (wait_ms_over(&start))
			return 0;
	return 1;
}

// Page 0 is the Admin SQ, 1 the Admin CQ, 2 and 3 are the I/O queues, 4 is the source of writes, and 5 the target of
// reads.
static uint8_t *page(uint32_t index) { return host.dma + index * PAGE; }
static uint8_t *sq(int qid) { return page(qid ? 2 : 0); }
static uint8_t *cq(int qid) { return page(qid ? 3 : 1); }

static int command(int qid, uint32_t opcode, uint32_t nsid, uint8_t *data, uint32_t cdw10, uint32_t cdw11, uint32_t cdw12)
{
	uint32_t *entry = (uint32_t *)(sq(qid) + 64 * host.tail[qid]);
	uint64_t prp1 = (uintptr_t)data;
	memset(entry, 0, 64);
	entry[0] = opcode | host.tail[qid] << 16;
	entry[1] = nsid;
	memcpy(&entry[6], &prp1, 8);
	entry[10] = cdw10;
	entry[11] = cdw11;
	entry[12] = cdw12;
	host.tail[qid] = (host.tail[qid] + 1) % ENTRIES;
	store(host.bar + 0x1000 + 8 * qid, host.tail[qid]);

	const uint8_t *completion = cq(qid) + 16 * host.head[qid];
	if (!wait_for(completion + 12, 0x10000, host.phase[qid] << 16))
		return -1;
	uint32_t status = load(completion + 12) >> 17;
	host.head[qid] = (host.head[qid] + 1) % ENTRIES;
	if (host.head[qid] == 0)
		host.phase[qid] ^= 1;
	store(host.bar + 0x1004 + 8 * qid, host.head[qid]);
	return (int)status;
}

static const char *drive(void)
{
	uint64_t asq = (uintptr_t)sq(0), acq = (uintptr_t)cq(0);
	host.phase[0] = host.phase[1] = 1;
	store(host.bar + 0x24, (ENTRIES - 1) | (ENTRIES - 1) << 16);
	store(host.bar + 0x28, (uint32_t)asq);
	store(host.bar + 0x2c, (uint32_t)(asq >> 32));
	store(host.bar + 0x34, (uint32_t)(acq >> 32));
	store(host.bar + 0x30, (uint32_t)acq);
	store(host.bar + 0x14, 0x00460001);
	if (!wait_for(host.bar + 0x1c, 1, 1))
		return "CSTS.RDY did not become 1";
	if (command(0, 0x05, 0, cq(1), 1 | (ENTRIES - 1) << 16, 1, 0) != 0)
		return "Create I/O Completion Queue failed";
	if (command(0, 0x01, 0, sq(1), 1 | (ENTRIES - 1) << 16, 1 | 1 << 16, 0) != 0)
		return "Create I/O Submission Queue failed";
	for (uint32_t i = 0; i < host.commands; i++) {
		for (uint32_t word = 0; word < PAGE / 4; word++)
			((uint32_t *)page(4))[word] = (i + 1) * 2654435761u + word;
		if (command(1, 0x01, 1, page(4), 8 * (i % 1000), 0, 7) != 0)
			return "Write failed";
		if (command(1, 0x02, 1, page(5), 8 * (i % 1000), 0, 7) != 0)
			return "Read failed";
		if (memcmp(page(4), page(5), PAGE) != 0)
			return "a Read gave other bytes than were written";
	}
	store(host.bar + 0x14, 0x00460000);
	return wait_for(host.bar + 0x1c, 1, 0) ? "done" : "CSTS.RDY did not become 0";
}

static void *run(void *unused)
{
	(void)unused;
	host.outcome = drive();
	__atomic_store_n(&host.done, 1, __ATOMIC_RELEASE);
	return NULL;
}

// startHost(address of BAR0, address of six pages for DMA, pairs of Write and Read)
static napi_value start_host(napi_env env, napi_callback_info info)
{
	napi_value arguments[3];
	size_t count = 3;
	napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
	memset(&host, 0, sizeof host);
	host.bar = mapping(env, arguments[0]);
	host.dma = mapping(env, arguments[1]);
	napi_get_value_uint32(env, arguments[2], &host.commands);
	pthread_create(&host.thread, NULL, run, NULL);
	return NULL;
}

// Returns the result of the host thread; undefined while it runs.
static napi_value outcome(napi_env env, napi_callback_info info)
{
	(void)info;
	napi_value result = NULL;
	if (__atomic_load_n(&host.done, __ATOMIC_ACQUIRE) == 0)
		return NULL;
	pthread_join(host.thread, NULL);
	napi_create_string_utf8(env, host.outcome, NAPI_AUTO_LENGTH, &result);
	return result;
}

NAPI_MODULE_INIT()
{
	const struct { const char *name; napi_callback call; } functions[] = {
		{ "map", map }, { "view", view }, { "yield", yield }, { "startHost", start_host }, { "outcome", outcome },
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		napi_value function;
		napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function);
		napi_set_named_property(env, exports, functions[i].name, function);
	}
	return exports;
}
