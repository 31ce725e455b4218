// SPDX-License-Identifier: GPL-2.0-only
/* Coherent memory of other than the usual kind: of odd length, long, bounced, and inherited. */
#include "check.h"

static struct gpunvme_segment segments[MAX_SEGMENTS];

static int allocation(int fd, unsigned long bytes, struct gpunvme_alloc_coherent *memory)
{
	*memory = (struct gpunvme_alloc_coherent){ .size = sizeof(*memory), .length = bytes };
	return ask(fd, GPUNVME_ALLOC_COHERENT, memory);
}

static int release(int fd, uint32_t handle)
{
	struct gpunvme_release release = { .size = sizeof(release), .handle = handle };

	return ask(fd, GPUNVME_RELEASE, &release);
}

static int pinning(int fd, void *memory, unsigned long bytes)
{
	struct gpunvme_pin_user pin = {
		.size = sizeof(pin),
		.flags = GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES,
		.address = (uintptr_t)memory,
		.length = bytes,
		.segments = (uintptr_t)segments,
		.segment_capacity = MAX_SEGMENTS,
	};

	return ask(fd, GPUNVME_PIN_USER, &pin);
}

static unsigned long long free_kib(void)
{
	write_file("/proc/sys/vm/drop_caches", "1");
	return counter("/proc/meminfo", "MemFree:");
}

/* 65 pages are allocated as 128, of which 63 must be given back: 16 MiB of memory, not 32. */
static void odd(char **arguments)
{
	const unsigned long count = 64, bytes = 65 * PAGE;
	struct gpunvme_alloc_coherent memories[64];
	int fd = open_node();
	unsigned long long before = free_kib();
	long long held;

	(void)arguments;
	for (unsigned long i = 0; i < count; i++)
		memories[i] = allocate(fd, bytes);
	held = (long long)(before - free_kib());
	number("vmPinKiB", counter("/proc/self/status", "VmPin:"));
	truth("heldIsCharged", held < (long long)(count * bytes / 1024 * 3 / 2));
	for (unsigned long i = 0; i < count; i++)
		release(fd, memories[i].handle);
	number("vmPinAfterKiB", counter("/proc/self/status", "VmPin:"));
}

/* Longer than the kernel has in one piece: only an IOMMU makes one of it. */
static void large(char **arguments)
{
	const unsigned long bytes = 8 << 20;
	struct gpunvme_alloc_coherent memory;
	struct controller controller;
	int fd = open_node();
	int error = allocation(fd, bytes, &memory);
	unsigned char *mapped;

	(void)arguments;
	text("alloc", name_of(error));
	number("vmPinKiB", counter("/proc/self/status", "VmPin:"));
	if (error)
		return;
	mapped = map_coherent(fd, &memory);
	start(&controller, fd);
	truth("done", identify(&controller, memory.iova + bytes - PAGE));
	text("serial", serial_of(mapped + bytes - PAGE));
	text("pin", name_of(pinning(fd, mapped, bytes)));
	text("given", madvise(mapped, bytes, MADV_DONTNEED) ? name_of(errno) : "OK");
	truth("stays", fault_at(mapped) == 0 && !strcmp(serial_of(mapped + bytes - PAGE), "KM0001"));
	munmap(mapped, bytes);
	text("release", name_of(release(fd, memory.handle)));
}

/* All memory of a process is out of the controller's reach; queues are not. */
static void bounced(char **arguments)
{
	int log = kernel_log();
	int fd = open_node();
	struct gpunvme_alloc_coherent memory = allocate(fd, 3 * PAGE);
	unsigned char *mapped = map_coherent(fd, &memory);
	struct controller controller;

	(void)arguments;
	text("pinOwn", name_of(pinning(fd, anonymous(4 * PAGE), 4 * PAGE)));
	text("pinQueue", name_of(pinning(fd, mapped, PAGE)));
	/* 4 MiB is more than there is room for in one piece of a bounce buffer. */
	text("pinMuch", name_of(pinning(fd, anonymous(4 << 20), 4 << 20)));
	start(&controller, fd);
	truth("done", identify(&controller, memory.iova + 2 * PAGE));
	text("serial", serial_of(mapped + 2 * PAGE));
	munmap(mapped, 3 * PAGE);
	text("release", name_of(release(fd, memory.handle)));
	truth("warned", logs(log, "swiotlb buffer is full", 500));
}

/* Registers are never shared with a child; queue memory where the kernel allows MADV_DOFORK. */
static void inherited(char **arguments)
{
	int fd = open_node();
	volatile uint32_t *registers = map_bar(fd, PAGE);
	struct gpunvme_alloc_coherent memory = allocate(fd, PAGE);
	unsigned char *mapped = map_coherent(fd, &memory);
	int status, ready[2];
	bool shared;
	pid_t child;

	(void)arguments;
	text("registers", madvise((void *)registers, PAGE, MADV_DOFORK) ? name_of(errno) : "OK");
	shared = madvise(mapped, PAGE, MADV_DOFORK) == 0;
	text("memory", shared ? "OK" : name_of(errno));
	if (pipe(ready))
		die("no pipe");
	mapped[0] = 7;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		char byte;

		close(ready[1]);
		status = fault_at(registers) == SIGSEGV ? 0 : 1;
		if (shared ? mapped[0] != 7 : fault_at(mapped) != SIGSEGV)
			status = 3;
		if (read(ready[0], &byte, 1) != 0)
			status = 2;
		_exit(status);
	}
	munmap(mapped, PAGE);
	text("whileChildHasIt", name_of(release(fd, memory.handle)));
	close(ready[1]);
	truth("child", waitpid(child, &status, 0) == child && status == 0);
	text("afterwards", name_of(release(fd, memory.handle)));
}

const struct check fallback_checks[] = { { "odd", odd },
					 { "large", large },
					 { "bounced", bounced },
					 { "inherited", inherited },
					 { NULL, NULL } };
