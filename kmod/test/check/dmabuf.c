// SPDX-License-Identifier: GPL-2.0-only
/*
 * Import of dma-bufs: of udmabuf, where the kernel has it, and of an exporter whose memory moves.
 */
#include "check.h"

#include <linux/udmabuf.h>

#include "../module/gpunvme_test.h"

#define BOTH (GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES)

static struct gpunvme_segment segments[MAX_SEGMENTS];

static int import(int fd, int dmabuf, uint32_t flags, uint32_t capacity,
		  struct gpunvme_import_dmabuf *import)
{
	*import = (struct gpunvme_import_dmabuf){
		.size = sizeof(*import),
		.flags = flags,
		.fd = dmabuf,
		.segments = (uintptr_t)segments,
		.segment_capacity = capacity,
	};
	return ask(fd, GPUNVME_IMPORT_DMABUF, import);
}

static int release(int fd, uint32_t handle)
{
	struct gpunvme_release release = { .size = sizeof(release), .handle = handle };

	return ask(fd, GPUNVME_RELEASE, &release);
}

/* The controller's serial number by way of a dma-buf whose memory is seen at `memory`. */
static void reads_into(const char *key, int fd, int dmabuf, uint32_t flags, unsigned char *memory,
		       unsigned long bytes)
{
	struct gpunvme_import_dmabuf imported;
	struct controller controller;
	char name[64];
	int error = import(fd, dmabuf, flags, MAX_SEGMENTS, &imported);

	text(key, name_of(error));
	if (error)
		return;
	memset(memory, 0xa5, bytes);
	start(&controller, fd);
	snprintf(name, sizeof(name), "%sSerial", key);
	identify(&controller, segments[0].iova);
	text(name, serial_of(memory));
	snprintf(name, sizeof(name), "%sWhole", key);
	truth(name, imported.length == bytes && memory[PAGE] == 0xa5 && memory[bytes - 1] == 0xa5);
	set_bus_master(fd, false);
	snprintf(name, sizeof(name), "%sReleased", key);
	text(name, name_of(release(fd, imported.handle)));
}

static void from_udmabuf(char **arguments)
{
	const unsigned long bytes = 64 * PAGE;
	int device = open("/dev/udmabuf", O_RDWR);
	int memfd = memfd_create("gpu", MFD_ALLOW_SEALING);
	struct udmabuf_create create = { .memfd = (uint32_t)memfd, .size = bytes };
	struct gpunvme_import_dmabuf imported;
	unsigned char *memory;
	int fd, dmabuf;

	(void)arguments;
	if (device < 0) {
		text("missing", "/dev/udmabuf");
		return;
	}
	if (ftruncate(memfd, bytes) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd");
	dmabuf = ioctl(device, UDMABUF_CREATE, &create);
	if (dmabuf < 0)
		die("UDMABUF_CREATE");
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	fd = open_node();
	text("noRoom", name_of(import(fd, dmabuf, BOTH, 0, &imported)));
	truth("counted", imported.segment_count >= 1);
	reads_into("held", fd, dmabuf, BOTH, memory, bytes);
	reads_into("dynamic", fd, dmabuf, BOTH | GPUNVME_IMPORT_DYNAMIC, memory, bytes);
	text("first", name_of(import(fd, dmabuf, BOTH, MAX_SEGMENTS, &imported)));
	text("second",
	     name_of(import(fd, dmabuf, BOTH | GPUNVME_IMPORT_DYNAMIC, MAX_SEGMENTS, &imported)));
	/* The handles keep it; closing gives it back. */
	close(dmabuf);
	close(fd);
	truth("kept", memory[0] != 1);
}

static int test_device(void)
{
	int fd = open("/dev/gpunvme_test", O_RDWR);

	if (fd < 0)
		die("/dev/gpunvme_test");
	return fd;
}

static int export(int device, uint32_t pages)
{
	__u32 value = pages;

	must(device, TEST_EXPORT, &value);
	return (int)value;
}

/* The exporter of the test's own, which moves its memory when it is told to. */
static void moving(char **arguments)
{
	int device = test_device();
	int dmabuf = export(device, 16);
	int fd = open_node();
	int event = eventfd(0, 0);
	unsigned char *memory =
		mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	struct gpunvme_set_bus_master on = { .size = sizeof(on), .enable = 1 };
	struct gpunvme_memory known = { .size = sizeof(known) };
	struct gpunvme_import_dmabuf imported;
	struct controller controller;
	__u32 value = (__u32)dmabuf;
	int error;

	(void)arguments;
	notify_by(fd, event);
	reads_into("held", fd, dmabuf, BOTH, memory, 16 * PAGE);
	reads_into("dynamic", fd, dmabuf, BOTH | GPUNVME_IMPORT_DYNAMIC, memory, 16 * PAGE);
	import(fd, dmabuf, BOTH, MAX_SEGMENTS, &imported);
	text("moveHeld", name_of(ask(device, TEST_MOVE, &value)));
	release(fd, imported.handle);

	import(fd, dmabuf, BOTH | GPUNVME_IMPORT_DYNAMIC, MAX_SEGMENTS, &imported);
	start(&controller, fd);
	value = (__u32)dmabuf;
	error = ask(device, TEST_MOVE, &value);
	text("move", name_of(error));
	if (error)
		return;
	number("stillMapped", value);
	truth("told", signalled(event, 1000));
	number("events", info_of(fd).events);
	number("busMaster", info_of(fd).bus_master);
	number("enabled", controller.registers[5] & 1);
	known.handle = imported.handle;
	must(fd, GPUNVME_GET_MEMORY, &known);
	number("revoked", known.revoked);
	text("masterWhileRevoked", name_of(ask(fd, GPUNVME_SET_BUS_MASTER, &on)));
	text("release", name_of(release(fd, imported.handle)));
	text("masterAfterwards", name_of(ask(fd, GPUNVME_SET_BUS_MASTER, &on)));
	/* Where it is now. */
	munmap(memory, 16 * PAGE);
	memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
	reads_into("again", fd, dmabuf, BOTH | GPUNVME_IMPORT_DYNAMIC, memory, 16 * PAGE);
	/* Ends that find something revoked, and something mapped. */
	import(fd, dmabuf, BOTH | GPUNVME_IMPORT_DYNAMIC, MAX_SEGMENTS, &imported);
	value = (__u32)dmabuf;
	must(device, TEST_MOVE, &value);
	import(fd, dmabuf, BOTH | GPUNVME_IMPORT_DYNAMIC, MAX_SEGMENTS, &imported);
	close(fd);
}

const struct check dmabuf_checks[] = { { "udmabuf", from_udmabuf },
				       { "moving", moving },
				       { NULL, NULL } };
