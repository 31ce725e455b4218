// SPDX-License-Identifier: GPL-2.0-only
/* Coherent memory, and pinning: where they are, and that the controller's DMA arrives there. */
#include "check.h"

#include <linux/capability.h>
#include <sys/resource.h>

static struct gpunvme_segment segments[MAX_SEGMENTS];

static void release(int fd, uint32_t handle)
{
	struct gpunvme_release release = { .size = sizeof(release), .handle = handle };

	must(fd, GPUNVME_RELEASE, &release);
}

/* Whether they begin at 0, follow each other, and cover all of it. */
static bool whole(uint32_t count, uint64_t bytes)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (segments[i].offset != at || segments[i].length == 0)
			return false;
		at += segments[i].length;
	}
	return at == bytes;
}

/* Segments against what the kernel says of each page. */
static bool physical(const unsigned char *memory, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint64_t at = 0; at < segments[i].length; at += PAGE)
			if (frame_of(memory + segments[i].offset + at) * PAGE !=
			    segments[i].iova + at)
				return false;
	return true;
}

static void pinning(char **arguments)
{
	const unsigned long bytes = 4 << 20;
	unsigned long long before = pinned_pages();
	int fd = open_node();
	unsigned char *memory = anonymous(bytes);
	struct gpunvme_pin_user pinned = pin(fd, memory, bytes, segments);
	struct gpunvme_pin_user small = {
		.size = sizeof(small),
		.flags = GPUNVME_DEVICE_WRITES,
		.address = (uintptr_t)memory,
		.length = bytes,
		.segments = (uintptr_t)segments,
	};
	struct gpunvme_memory known = { .size = sizeof(known), .handle = pinned.handle };

	(void)arguments;
	truth("whole", whole(pinned.segment_count, bytes));
	truth("physical", physical(memory, pinned.segment_count));
	truth("oneSegment", pinned.segment_count == 1);
	number("pinnedPages", pinned_pages() - before);
	number("vmPinKiB", counter("/proc/self/status", "VmPin:"));
	must(fd, GPUNVME_GET_MEMORY, &known);
	truth("known", known.kind == GPUNVME_MEMORY_USER && known.length == bytes &&
			       !known.revoked && known.segment_count == pinned.segment_count);
	text("noRoom", name_of(ask(fd, GPUNVME_PIN_USER, &small)));
	truth("countedAnyway", small.segment_count == pinned.segment_count);
	number("pinnedOnce", pinned_pages() - before);
	release(fd, pinned.handle);
	number("pinnedAfter", pinned_pages() - before);
	number("vmPinAfterKiB", counter("/proc/self/status", "VmPin:"));
}

/* The controller writes its serial number to memory of each kind. */
static void dma(char **arguments)
{
	int fd = open_node();
	unsigned char *memory = anonymous(4 * PAGE);
	struct gpunvme_alloc_coherent coherent = allocate(fd, PAGE);
	unsigned char *mapped = map_coherent(fd, &coherent);
	struct gpunvme_set_irq irq = { .size = sizeof(irq), .vector = 0, .fd = eventfd(0, 0) };
	struct controller controller;

	(void)arguments;
	truth("zeroed", mapped[0] == 0 && !memcmp(mapped, mapped + 1, PAGE - 1));
	pin(fd, memory, 4 * PAGE, segments);
	must(fd, GPUNVME_SET_IRQ, &irq);
	start(&controller, fd);
	truth("coherentDone", identify(&controller, coherent.iova));
	text("coherentSerial", serial_of(mapped));
	truth("interrupted", signalled(irq.fd, 2000));
	truth("pinnedDone", identify(&controller, segments[0].iova));
	text("pinnedSerial", serial_of(memory));
	truth("besideUntouched", memory[PAGE] == 0xa5 && memory[4 * PAGE - 1] == 0xa5);
	set_bus_master(fd, false);
	memset(memory, 0xa5, PAGE);
	truth("masteringOffDone", identify(&controller, segments[0].iova));
	truth("masteringOffUntouched", memory[0] == 0xa5 && !memcmp(memory, memory + 1, PAGE - 1));
}

/* What PIN_USER says to memory that is mapped already. */
static const char *pinning_of(int fd, volatile void *memory, unsigned long bytes,
			      struct gpunvme_pin_user *pinned)
{
	*pinned = (struct gpunvme_pin_user){
		.size = sizeof(*pinned),
		.flags = GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES,
		.address = (uintptr_t)memory,
		.length = bytes,
		.segments = (uintptr_t)segments,
		.segment_capacity = MAX_SEGMENTS,
	};
	return name_of(ask(fd, GPUNVME_PIN_USER, pinned));
}

/*
 * A GPU's driver pins queues as this module pins a process's memory: for writing, and for long. So
 * coherent memory must be pages that can be pinned, and stay where it is until it is unpinned.
 */
static void queues(char **arguments)
{
	const unsigned long bytes = 64 * PAGE;
	unsigned long long before = pinned_pages();
	int fd = open_node();
	struct gpunvme_alloc_coherent page = allocate(fd, PAGE);
	struct gpunvme_alloc_coherent coherent = allocate(fd, bytes);
	unsigned char *mapped = map_coherent(fd, &coherent);
	struct gpunvme_pin_user one, pinned;

	(void)arguments;
	text("registers", pinning_of(fd, map_bar(fd, PAGE), PAGE, &pinned));
	text("page", pinning_of(fd, map_coherent(fd, &page), PAGE, &one));
	text("queue", pinning_of(fd, mapped, bytes, &pinned));
	truth("whole", whole(pinned.segment_count, bytes));
	/* Without translation both are physical addresses. */
	truth("samePages", info_of(fd).iommu_mode == GPUNVME_IOMMU_TRANSLATED ||
				   (pinned.segment_count == 1 && segments[0].iova == coherent.iova));
	strcpy((char *)mapped + bytes - PAGE, "as it was");
	text("dropped", madvise(mapped, bytes, MADV_DONTNEED) ? name_of(errno) :
								(char *)mapped + bytes - PAGE);
	munmap(mapped, bytes);
	release(fd, coherent.handle);
	number("pinnedWithoutHandle", pinned_pages() - before);
	release(fd, one.handle);
	release(fd, pinned.handle);
	number("pinnedAfter", pinned_pages() - before);
}

/* Without CAP_IPC_LOCK, and 16 pages to lock. */
static void memlock(char **arguments)
{
	const struct rlimit limit = { .rlim_cur = 16 * PAGE, .rlim_max = 16 * PAGE };
	int fd = open_node();
	unsigned char *memory = anonymous(32 * PAGE);
	struct gpunvme_pin_user attempt = {
		.size = sizeof(attempt),
		.flags = GPUNVME_DEVICE_WRITES,
		.address = (uintptr_t)memory,
		.segments = (uintptr_t)segments,
		.segment_capacity = MAX_SEGMENTS,
	};
	struct gpunvme_alloc_coherent coherent = { .size = sizeof(coherent), .length = PAGE };
	struct gpunvme_pin_user first;

	(void)arguments;
	set_capability(CAP_IPC_LOCK, false);
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("setrlimit");
	attempt.length = 17 * PAGE;
	text("seventeen", name_of(ask(fd, GPUNVME_PIN_USER, &attempt)));
	first = pin(fd, memory, 16 * PAGE, segments);
	attempt.length = PAGE;
	text("seventeenth", name_of(ask(fd, GPUNVME_PIN_USER, &attempt)));
	text("coherentToo", name_of(ask(fd, GPUNVME_ALLOC_COHERENT, &coherent)));
	number("vmPinKiB", counter("/proc/self/status", "VmPin:"));
	release(fd, first.handle);
	text("afterRelease", name_of(ask(fd, GPUNVME_PIN_USER, &attempt)));
}

/* As many handles as there may be. */
static void handles(char **arguments)
{
	unsigned long long before = pinned_pages();
	int fd = open_node();
	unsigned char *memory = anonymous(PAGE);
	struct gpunvme_pin_user last = {
		.size = sizeof(last),
		.flags = GPUNVME_DEVICE_WRITES,
		.address = (uintptr_t)memory,
		.length = PAGE,
		.segments = (uintptr_t)segments,
		.segment_capacity = 1,
	};
	unsigned int count = 0;
	int error;

	(void)arguments;
	while ((error = ask(fd, GPUNVME_PIN_USER, &last)) == 0)
		count++;
	number("count", count);
	text("next", name_of(error));
	close(fd);
	usleep(100000);
	number("pinnedAfter", pinned_pages() - before);
}

const struct check memory_checks[] = { { "pinning", pinning },
				       { "dma", dma },
				       { "queues", queues },
				       { "memlock", memlock },
				       { "handles", handles },
				       { NULL, NULL } };
