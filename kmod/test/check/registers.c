// SPDX-License-Identifier: GPL-2.0-only
/* What the module says of a controller, and BAR 0. */
#include "check.h"

static void info(char **arguments)
{
	int fd = open_node();
	struct gpunvme_info info = info_of(fd);
	struct gpunvme_read_config config = { .size = sizeof(config), .offset = 0, .width = 4 };
	char address[16];

	(void)arguments;
	snprintf(address, sizeof(address), "%04x:%02x:%02x.%x", info.pci_domain, info.pci_bus,
		 info.pci_device, info.pci_function);
	text("address", address);
	number("abiVersion", info.abi_version);
	number("vendor", info.vendor_id);
	number("device", info.device_id);
	number("bar0Length", info.bar0_length);
	number("bar0MappableLength", info.bar0_mappable_length);
	number("msixTableOffset", info.msix_table_offset);
	number("irqVectors", info.irq_vectors);
	number("iommuMode", info.iommu_mode);
	number("dmaAddressBits", info.dma_address_bits);
	number("pageSize", info.page_size);
	number("linkWidth", info.link_width);
	number("maxPayloadSize", info.max_payload_size);
	number("maxReadRequestSize", info.max_read_request_size);
	number("powerState", info.power_state);
	number("busMaster", info.bus_master);
	number("resetMethods", info.reset_methods);
	number("events", info.events);
	must(fd, GPUNVME_READ_CONFIG, &config);
	number("config0", config.value);
	text("secondOpen", open(node, O_RDWR) < 0 ? name_of(errno) : "OK");
}

/* The offset that /proc/self/maps has of the mapping at an address. */
static unsigned long long offset_in_maps(const volatile void *address)
{
	const char *line = content_of("/proc/self/maps");

	for (; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		unsigned long long start, end, offset;

		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 &&
		    start == (uintptr_t)address)
			return offset;
	}
	die("no mapping begins there");
}

static uint64_t looked_up(const volatile void *address)
{
	uint64_t frame;

	if (lookup(address, &frame))
		die("nothing is behind that address");
	return frame;
}

static const char *flags_of(const volatile void *address)
{
	static char flags[256];
	const char *line = content_of("/proc/self/smaps");
	char start[32];

	snprintf(start, sizeof(start), "%lx-", (unsigned long)(uintptr_t)address);
	line = strstr(line, start);
	line = line ? strstr(line, "VmFlags:") : NULL;
	if (!line || sscanf(line, "VmFlags: %255[^\n]", flags) != 1)
		die("no flags of that mapping");
	flags[strcspn(flags, "\n")] = 0;
	return flags;
}

/* Registers by the mapping, and where mapping, page tables and sysfs say that they are. */
static void bar(char **arguments)
{
	int fd = open_node();
	volatile uint32_t *registers = map_bar(fd, 2 * PAGE);
	unsigned long long start = strtoull(content_of(sysfs("resource")), NULL, 16);
	void *second = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE);

	(void)arguments;
	number("version", registers[2]);
	registers[0x24 / 4] = 0x001f000f;
	number("aqa", registers[0x24 / 4]);
	registers[0x24 / 4] = 0;
	truth("offsetIsAddress", offset_in_maps(registers) == start);
	truth("frameIsAddress", looked_up(registers) == start / PAGE);
	truth("lastFrameToo", looked_up((volatile char *)registers + PAGE) == start / PAGE + 1);
	truth("secondPage",
	      offset_in_maps(second) == start + PAGE && looked_up(second) == start / PAGE + 1);
	text("flags", flags_of(registers));
}

static const char *mapping(int fd, unsigned long bytes, int protection, int flags,
			   unsigned long long offset)
{
	void *mapped = mmap(NULL, bytes, protection, flags, fd, (off_t)offset);

	if (mapped == MAP_FAILED)
		return name_of(errno);
	munmap(mapped, bytes);
	return "OK";
}

/* mmap(2) of what is none of it. */
static void mappings(char **arguments)
{
	int fd = open_node();
	struct gpunvme_info info = info_of(fd);
	struct gpunvme_alloc_coherent memory = allocate(fd, 3 * PAGE);
	struct gpunvme_pin_user pinned;
	struct gpunvme_segment segments[MAX_SEGMENTS];
	int rw = PROT_READ | PROT_WRITE;

	(void)arguments;
	pinned = pin(fd, anonymous(PAGE), PAGE, segments);
	text("registers", mapping(fd, info.bar0_mappable_length, rw, MAP_SHARED, 0));
	text("readOnly", mapping(fd, PAGE, PROT_READ, MAP_SHARED, 0));
	text("msixTable", mapping(fd, PAGE, PROT_READ, MAP_SHARED, info.msix_table_offset));
	text("untilMsixTable", mapping(fd, info.bar0_mappable_length + PAGE, rw, MAP_SHARED, 0));
	text("wholeBar", mapping(fd, info.bar0_length, PROT_READ, MAP_SHARED, 0));
	text("behindBar", mapping(fd, PAGE, rw, MAP_SHARED, info.bar0_length));
	text("beyondBar", mapping(fd, info.bar0_length, rw, MAP_SHARED, PAGE));
	text("farBehind", mapping(fd, PAGE, rw, MAP_SHARED, (1ull << 32) - PAGE));
	text("wrapsAround", mapping(fd, 2 * PAGE, rw, MAP_SHARED, ~0ull - PAGE + 1 - PAGE));
	text("private", mapping(fd, PAGE, rw, MAP_PRIVATE, 0));
	text("executable", mapping(fd, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0));
	text("coherent", mapping(fd, 3 * PAGE, rw, MAP_SHARED, memory.mmap_offset));
	text("coherentBeginning", mapping(fd, PAGE, rw, MAP_SHARED, memory.mmap_offset));
	text("coherentTooLong", mapping(fd, 4 * PAGE, rw, MAP_SHARED, memory.mmap_offset));
	text("coherentMiddle", mapping(fd, PAGE, rw, MAP_SHARED, memory.mmap_offset + PAGE));
	text("coherentPrivate", mapping(fd, PAGE, rw, MAP_PRIVATE, memory.mmap_offset));
	text("pinned", mapping(fd, PAGE, rw, MAP_SHARED, (unsigned long long)pinned.handle << 32));
	text("noHandle", mapping(fd, PAGE, rw, MAP_SHARED, 77ull << 32));
	text("hugeHandle", mapping(fd, PAGE, rw, MAP_SHARED, 0x7fffffffull << 32));
}

/* A child of the owner has nothing of it. */
static void forked(char **arguments)
{
	int fd = open_node();
	volatile uint32_t *registers = map_bar(fd, PAGE);
	struct gpunvme_info info = { .size = sizeof(info) };
	int status;

	(void)arguments;
	fflush(stdout);
	if (fork() == 0) {
		if (ask(fd, GPUNVME_GET_INFO, &info) != -EPERM)
			_exit(1);
		if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED || errno != EPERM)
			_exit(2);
		_exit(fault_at(registers) == SIGSEGV ? 0 : 3);
	}
	wait(&status);
	number("child", status);
	truth("owner", ask(fd, GPUNVME_GET_INFO, &info) == 0 && fault_at(registers) == 0);
}

const struct check register_checks[] = { { "info", info },
					 { "bar", bar },
					 { "mappings", mappings },
					 { "forked", forked },
					 { NULL, NULL } };
