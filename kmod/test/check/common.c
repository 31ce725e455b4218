// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"

#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "../module/gpunvme_test.h"

void die(const char *format, ...)
{
	int error = errno;
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fprintf(stderr, " (errno %s)\n", name_of(error));
	exit(1);
}

const char *name_of(int error)
{
	return error == 0 ? "OK" : strerrorname_np(error < 0 ? -error : error);
}

int ask(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) == 0 ? 0 : -errno;
}

void must(int fd, unsigned long request, void *argument)
{
	if (ioctl(fd, request, argument) != 0)
		die("request %lu of the module", request & 0xff);
}

int open_node(void)
{
	uint64_t until = now_ms() + 5000;
	int fd;

	while ((fd = open(node, O_RDWR | O_CLOEXEC)) < 0 && errno == EBUSY && now_ms() < until)
		usleep(10000);
	if (fd < 0)
		die("%s cannot be opened", node);
	return fd;
}

static bool opened;

static void key_of(const char *key)
{
	printf("%s\"%s\":", opened ? "," : "{", key);
	opened = true;
}

void number(const char *key, unsigned long long value)
{
	key_of(key);
	printf("%llu", value);
}

void text(const char *key, const char *value)
{
	key_of(key);
	printf("\"%s\"", value);
}

void truth(const char *key, bool value)
{
	key_of(key);
	printf(value ? "true" : "false");
}

void finish(void)
{
	puts(opened ? "}" : "{}");
	opened = false;
}

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

const char *content_of(const char *path)
{
	static char content[1 << 17];
	int fd = open(path, O_RDONLY);
	size_t bytes = 0;
	ssize_t got;

	/* A page at a time is what procfs gives. */
	while (fd >= 0 && (got = read(fd, content + bytes, sizeof(content) - 1 - bytes)) > 0)
		bytes += (size_t)got;
	if (fd >= 0)
		close(fd);
	if (bytes > 0 && content[bytes - 1] == '\n')
		bytes--;
	content[bytes] = 0;
	return content;
}

int write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);
	int error = fd < 0 || write(fd, value, strlen(value)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

const char *sysfs(const char *file)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", bdf, file);
	return path;
}

unsigned long long counter(const char *path, const char *name)
{
	const char *line = content_of(path);

	for (; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, name, strlen(name)))
			return strtoull(line + strlen(name), NULL, 10);
	die("%s has no %s", path, name);
}

unsigned long long pinned_pages(void)
{
	/* What each processor has counted for itself is added up. */
	write_file("/proc/sys/vm/stat_refresh", "1");
	return counter("/proc/vmstat", "nr_foll_pin_acquired") -
	       counter("/proc/vmstat", "nr_foll_pin_released");
}

void set_bus_master(int fd, bool on)
{
	struct gpunvme_set_bus_master set = { .size = sizeof(set), .enable = on };

	must(fd, GPUNVME_SET_BUS_MASTER, &set);
}

struct gpunvme_info info_of(int fd)
{
	struct gpunvme_info info = { .size = sizeof(info) };

	must(fd, GPUNVME_GET_INFO, &info);
	return info;
}

volatile void *map_bar(int fd, unsigned long bytes)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, GPUNVME_MMAP_BAR0);

	if (mapped == MAP_FAILED)
		die("BAR 0 cannot be mapped");
	return mapped;
}

struct gpunvme_alloc_coherent allocate(int fd, unsigned long bytes)
{
	struct gpunvme_alloc_coherent memory = { .size = sizeof(memory), .length = bytes };

	must(fd, GPUNVME_ALLOC_COHERENT, &memory);
	return memory;
}

void *map_coherent(int fd, const struct gpunvme_alloc_coherent *memory)
{
	void *mapped = mmap(NULL, memory->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    memory->mmap_offset);

	if (mapped == MAP_FAILED)
		die("coherent memory cannot be mapped");
	return mapped;
}

unsigned char *anonymous(unsigned long bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("no memory");
	return memset(memory, 0xa5, bytes);
}

struct gpunvme_pin_user pin(int fd, void *memory, unsigned long bytes,
			    struct gpunvme_segment *segments)
{
	struct gpunvme_pin_user pin = {
		.size = sizeof(pin),
		.flags = GPUNVME_DEVICE_READS | GPUNVME_DEVICE_WRITES,
		.address = (uintptr_t)memory,
		.length = bytes,
		.segments = (uintptr_t)segments,
		.segment_capacity = MAX_SEGMENTS,
	};

	must(fd, GPUNVME_PIN_USER, &pin);
	return pin;
}

uint64_t frame_of(const void *address)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0 || pread(fd, &entry, 8, (uintptr_t)address / PAGE * 8) != 8 || !(entry >> 63))
		die("pagemap does not say where a page is");
	close(fd);
	return entry & ((1ull << 55) - 1);
}

int lookup(const volatile void *address, uint64_t *frame)
{
	int fd = open("/dev/gpunvme_test", O_RDWR);
	__u64 value = (uintptr_t)address;
	int error = ask(fd, TEST_LOOKUP, &value);

	close(fd);
	*frame = value;
	return error;
}

void notify_by(int fd, int event)
{
	struct gpunvme_set_notify notify = { .size = sizeof(notify), .fd = event };

	must(fd, GPUNVME_SET_NOTIFY, &notify);
}

bool signalled(int event, int timeout_ms)
{
	struct pollfd wait = { .fd = event, .events = POLLIN };
	uint64_t count;

	return poll(&wait, 1, timeout_ms) == 1 && read(event, &count, 8) == 8;
}

void pull(bool out)
{
	unsigned int domain, bus, device, function;
	int fd = open("/dev/gpunvme_test", O_RDWR);
	__u64 value;

	if (sscanf(bdf, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		die("%s is no address", bdf);
	value = (__u64)(domain << 16 | bus << 8 | device << 3 | function) << 1 | out;
	must(fd, TEST_PULL, &value);
	close(fd);
}

void set_capability(int capability, bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		die("capget");
	if (on)
		data[0].effective |= 1u << capability;
	else
		data[0].effective &= ~(1u << capability);
	if (syscall(SYS_capset, &header, data))
		die("capset");
}

int kernel_log(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log < 0 || lseek(log, 0, SEEK_END) < 0)
		die("/dev/kmsg cannot be read");
	return log;
}

bool logs(int log, const char *part, int timeout_ms)
{
	uint64_t until = now_ms() + (uint64_t)timeout_ms;
	char record[8192];

	do {
		ssize_t got = read(log, record, sizeof(record) - 1);

		if (got > 0) {
			record[got] = 0;
			if (strstr(record, part))
				return true;
		} else {
			usleep(20000);
		}
	} while (now_ms() < until);
	return false;
}

static sigjmp_buf back;

static void faulted(int signal)
{
	siglongjmp(back, signal);
}

int fault_at(const volatile void *address)
{
	struct sigaction action = { .sa_handler = faulted };
	int got;

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	got = sigsetjmp(back, 1);
	if (got == 0)
		(void)*(const volatile uint32_t *)address;
	signal(SIGBUS, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	return got;
}
