// SPDX-License-Identifier: GPL-2.0-only
/* Everything that is refused, by the errno that says why. */
#include "check.h"

/* The structure of any request; all of them begin alike. */
union any {
	struct {
		__u32 size, flags;
	} head;
	struct gpunvme_info info;
	struct gpunvme_alloc_coherent alloc;
	struct gpunvme_pin_user pin;
	struct gpunvme_import_dmabuf import;
	struct gpunvme_memory memory;
	struct gpunvme_release release;
	struct gpunvme_set_bus_master set_bus_master;
	struct gpunvme_reset reset;
	struct gpunvme_set_irq set_irq;
	struct gpunvme_set_notify set_notify;
	struct gpunvme_read_config read_config;
	unsigned char bytes[256];
};

static const struct {
	const char *name;
	unsigned long request;
	/* Where its reserved member is; 0 where it has none that is looked at. */
	size_t reserved;
} requests[] = {
	{ "GET_INFO", GPUNVME_GET_INFO, 0 },
	{ "ALLOC_COHERENT", GPUNVME_ALLOC_COHERENT,
	  offsetof(struct gpunvme_alloc_coherent, reserved) },
	{ "PIN_USER", GPUNVME_PIN_USER, offsetof(struct gpunvme_pin_user, reserved) },
	{ "IMPORT_DMABUF", GPUNVME_IMPORT_DMABUF, 0 },
	{ "GET_MEMORY", GPUNVME_GET_MEMORY, 0 },
	{ "RELEASE", GPUNVME_RELEASE, offsetof(struct gpunvme_release, reserved) },
	{ "SET_BUS_MASTER", GPUNVME_SET_BUS_MASTER,
	  offsetof(struct gpunvme_set_bus_master, reserved) },
	{ "RESET", GPUNVME_RESET, offsetof(struct gpunvme_reset, reserved) },
	{ "SET_IRQ", GPUNVME_SET_IRQ, 0 },
	{ "SET_NOTIFY", GPUNVME_SET_NOTIFY, offsetof(struct gpunvme_set_notify, reserved) },
	{ "READ_CONFIG", GPUNVME_READ_CONFIG, offsetof(struct gpunvme_read_config, reserved) },
};

/* Arguments of a request that would do something; it is called with one thing wrong at a time. */
static union any good(unsigned long request, unsigned char *memory,
		      struct gpunvme_segment *segments)
{
	union any any = { .head.size = _IOC_SIZE(request) };

	switch (request) {
	case GPUNVME_ALLOC_COHERENT:
		any.alloc.length = PAGE;
		break;
	case GPUNVME_PIN_USER:
		any.pin.flags = GPUNVME_DEVICE_WRITES;
		any.pin.address = (uintptr_t)memory;
		any.pin.length = PAGE;
		any.pin.segments = (uintptr_t)segments;
		any.pin.segment_capacity = MAX_SEGMENTS;
		break;
	case GPUNVME_RESET:
		any.reset.method = GPUNVME_RESET_FUNCTION;
		break;
	case GPUNVME_SET_IRQ:
		any.set_irq.fd = -1;
		break;
	case GPUNVME_SET_NOTIFY:
		any.set_notify.fd = -1;
		break;
	case GPUNVME_READ_CONFIG:
		any.read_config.width = 4;
		break;
	}
	return any;
}

/* The same request with another size in its number. */
static unsigned long sized(unsigned long request, unsigned int size)
{
	return _IOC(_IOC_READ | _IOC_WRITE, GPUNVME_IOC_TYPE, _IOC_NR(request), size);
}

static char answers[256];

static void answer(int error)
{
	strncat(answers, answers[0] ? " " : "", sizeof(answers) - strlen(answers) - 1);
	strncat(answers, name_of(error), sizeof(answers) - strlen(answers) - 1);
}

/*
 * Of each request, in this order: 4 bytes shorter; 0 bytes; the size in the structure differs; 8
 * bytes of zeroes more; 8 bytes more that are not zero; an unknown flag; something reserved; a null
 * pointer; memory that cannot be written.
 */
static void shapes(char **arguments)
{
	static struct gpunvme_segment segments[MAX_SEGMENTS];
	unsigned char *memory = anonymous(PAGE);
	union any *read_only =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_node();

	(void)arguments;
	for (unsigned int i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		unsigned long request = requests[i].request;
		unsigned int size = _IOC_SIZE(request);
		union any any;

		answers[0] = 0;
		any = good(request, memory, segments);
		any.head.size = size - 4;
		answer(ask(fd, sized(request, size - 4), &any));
		answer(ask(fd, sized(request, 0), &any));
		any = good(request, memory, segments);
		any.head.size += 8;
		answer(ask(fd, request, &any));
		any = good(request, memory, segments);
		any.head.size += 8;
		answer(ask(fd, sized(request, size + 8), &any));
		any = good(request, memory, segments);
		any.head.size += 8;
		any.bytes[size + 7] = 1;
		answer(ask(fd, sized(request, size + 8), &any));
		any = good(request, memory, segments);
		any.head.flags |= 1u << 31;
		answer(ask(fd, request, &any));
		if (requests[i].reserved) {
			any = good(request, memory, segments);
			any.bytes[requests[i].reserved + 3] = 0x80;
			answer(ask(fd, request, &any));
		} else {
			strcat(answers, " -");
		}
		answer(ask(fd, request, NULL));
		*read_only = good(request, memory, segments);
		mprotect(read_only, PAGE, PROT_READ);
		answer(ask(fd, request, read_only));
		mprotect(read_only, PAGE, PROT_READ | PROT_WRITE);
		text(requests[i].name, answers);
	}
	number("pinned", counter("/proc/self/status", "VmPin:"));
	text("otherType", name_of(ask(fd, _IOWR('T', 0, struct gpunvme_info), memory)));
	text("otherDirection",
	     name_of(ask(fd, _IOW(GPUNVME_IOC_TYPE, 0, struct gpunvme_info), memory)));
	text("otherNumber",
	     name_of(ask(fd, _IOWR(GPUNVME_IOC_TYPE, 11, struct gpunvme_info), memory)));
	text("zero", name_of(ask(fd, 0, memory)));
}

static const char *pins(int fd, uint64_t address, uint64_t length, uint32_t flags, void *segments,
			uint32_t capacity)
{
	struct gpunvme_pin_user pin = {
		.size = sizeof(pin),
		.flags = flags,
		.address = address,
		.length = length,
		.segments = (uintptr_t)segments,
		.segment_capacity = capacity,
	};

	return name_of(ask(fd, GPUNVME_PIN_USER, &pin));
}

static const char *imports(int fd, int dmabuf, uint32_t flags)
{
	struct gpunvme_import_dmabuf import = { .size = sizeof(import),
						.flags = flags,
						.fd = dmabuf };

	return name_of(ask(fd, GPUNVME_IMPORT_DMABUF, &import));
}

static const char *allocates(int fd, uint64_t length)
{
	struct gpunvme_alloc_coherent alloc = { .size = sizeof(alloc), .length = length };

	return name_of(ask(fd, GPUNVME_ALLOC_COHERENT, &alloc));
}

static const char *releases(int fd, uint32_t handle)
{
	struct gpunvme_release release = { .size = sizeof(release), .handle = handle };

	return name_of(ask(fd, GPUNVME_RELEASE, &release));
}

static const char *interrupts(int fd, uint32_t vector, int event)
{
	struct gpunvme_set_irq irq = { .size = sizeof(irq), .vector = vector, .fd = event };

	return name_of(ask(fd, GPUNVME_SET_IRQ, &irq));
}

static const char *config(int fd, uint32_t offset, uint32_t width)
{
	struct gpunvme_read_config config = { .size = sizeof(config),
					      .offset = offset,
					      .width = width };

	return name_of(ask(fd, GPUNVME_READ_CONFIG, &config));
}

/* Arguments of the right shape that cannot be done. */
static void values(char **arguments)
{
	static struct gpunvme_segment segments[MAX_SEGMENTS];
	int fd = open_node();
	uintptr_t memory = (uintptr_t)anonymous(8 * PAGE);
	uintptr_t hole = memory + 4 * PAGE;
	void *read_only = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile void *registers = map_bar(fd, PAGE);
	struct gpunvme_alloc_coherent coherent = allocate(fd, PAGE);
	struct gpunvme_set_bus_master twice = { .size = sizeof(twice), .enable = 2 };
	struct gpunvme_reset reset = { .size = sizeof(reset), .method = 3 };
	struct gpunvme_memory unknown = { .size = sizeof(unknown), .handle = 4711 };
	int event = eventfd(0, 0), file = open("/proc/self/exe", O_RDONLY), pipes[2];
	uint32_t both = GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES;
	void *mapped;

	(void)arguments;
	if (pipe(pipes))
		die("no pipe");
	munmap((void *)hole, PAGE);
	text("pinLengthZero", pins(fd, memory, 0, both, segments, 1));
	text("pinUnaligned", pins(fd, memory + 512, PAGE, both, segments, 1));
	text("pinLengthUnaligned", pins(fd, memory, PAGE + 512, both, segments, 2));
	text("pinNoDirection", pins(fd, memory, PAGE, 0, segments, 1));
	text("pinUnmapped", pins(fd, hole, PAGE, both, segments, 1));
	text("pinHoleInside", pins(fd, memory, 8 * PAGE, both, segments, MAX_SEGMENTS));
	text("pinNull", pins(fd, 0, PAGE, both, segments, 1));
	text("pinReadOnly",
	     pins(fd, (uintptr_t)read_only, PAGE, GPUNVME_DEVICE_READS, segments, 1));
	text("pinRegisters", pins(fd, (uintptr_t)registers, PAGE, both, segments, 1));
	text("pinKernel", pins(fd, 0xffff888000000000, PAGE, both, segments, 1));
	text("pinHuge", pins(fd, memory, 1ull << 40, both, segments, 1));
	text("pinLongest", pins(fd, memory, 1ull << 32, both, segments, 1));
	text("pinWrapsAround", pins(fd, ~0ull - PAGE + 1, 2 * PAGE, both, segments, 2));
	text("pinEnd", pins(fd, ~0ull - PAGE + 1, PAGE, both, segments, 2));
	text("pinNoRoom", pins(fd, memory, PAGE, both, segments, 0));
	text("pinSegmentsNull", pins(fd, memory, PAGE, both, NULL, 1));
	text("pinSegmentsReadOnly", pins(fd, memory, PAGE, both, read_only, 1));
	text("allocZero", allocates(fd, 0));
	text("allocHuge", allocates(fd, ~0ull));
	text("allocAboveLimit", allocates(fd, (1ull << 26) + 1));
	text("importNoFile", imports(fd, 4711, both));
	text("importNegative", imports(fd, -1, both));
	text("importFile", imports(fd, file, both));
	text("importPipe", imports(fd, pipes[0], both));
	text("importItself", imports(fd, fd, both | GPUNVME_IMPORT_DYNAMIC));
	text("importEventfd", imports(fd, event, both));
	text("importNoDirection", imports(fd, event, 0));
	text("releaseZero", releases(fd, 0));
	text("releaseUnknown", releases(fd, 4711));
	text("releaseMost", releases(fd, ~0u));
	text("release", releases(fd, coherent.handle));
	text("releaseTwice", releases(fd, coherent.handle));
	coherent = allocate(fd, PAGE);
	mapped = map_coherent(fd, &coherent);
	text("releaseMapped", releases(fd, coherent.handle));
	munmap(mapped, PAGE);
	text("releaseUnmapped", releases(fd, coherent.handle));
	text("memoryUnknown", name_of(ask(fd, GPUNVME_GET_MEMORY, &unknown)));
	text("busMasterTwo", name_of(ask(fd, GPUNVME_SET_BUS_MASTER, &twice)));
	text("resetBoth", name_of(ask(fd, GPUNVME_RESET, &reset)));
	text("irqNoFile", interrupts(fd, 0, 4711));
	text("irqNoEventfd", interrupts(fd, 0, file));
	text("irqVector", interrupts(fd, info_of(fd).irq_vectors, event));
	text("irqVectorMost", interrupts(fd, ~0u, event));
	text("irq", interrupts(fd, 0, event));
	text("irqTwice", interrupts(fd, 0, event));
	text("irqAway", interrupts(fd, 0, -1));
	text("irqAwayTwice", interrupts(fd, 0, -1));
	text("configWidth", config(fd, 0, 3));
	text("configUnaligned", config(fd, 2, 4));
	text("configBehind", config(fd, 4096, 4));
	text("configFar", config(fd, ~3u, 4));
	number("pinned", counter("/proc/self/status", "VmPin:"));
}

const struct check errno_checks[] = { { "shapes", shapes }, { "values", values }, { NULL, NULL } };
