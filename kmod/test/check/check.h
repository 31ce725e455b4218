/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the cases of a program that sends requests to the module and prints JSON.
 */
#ifndef CHECK_H
#define CHECK_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gpunvme_ioctl.h>

#define PAGE 4096ul
#define MAX_SEGMENTS 4096

/* The device node, and the function's address. */
extern const char *node;
extern const char *bdf;

/* What went wrong that is no finding; ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);
/* "OK", or the name of an errno. */
const char *name_of(int error);
/* Its result is a negative errno. */
int ask(int fd, unsigned long request, void *argument);
/* ask() that has to succeed. */
void must(int fd, unsigned long request, void *argument);
/* Waits up to five seconds where it is busy: the last owner's end takes a moment. */
int open_node(void);

/* A member of the object that is printed; the first opens it, and finish() closes it. */
void number(const char *key, unsigned long long value);
void text(const char *key, const char *value);
void truth(const char *key, bool value);
void finish(void);

uint64_t now_ms(void);
/*
 * The content of a file of sysfs or procfs, without its last newline; empty where it cannot be
 * read.
 */
const char *content_of(const char *path);
/* A negative errno where it cannot be written. */
int write_file(const char *path, const char *value);
/* A file of the function in sysfs. */
const char *sysfs(const char *file);
/* A number after a name at the beginning of a line, as in /proc/vmstat. */
unsigned long long counter(const char *path, const char *name);
/* Pages that are pinned at this moment, in the whole system. */
unsigned long long pinned_pages(void);

void set_bus_master(int fd, bool on);
struct gpunvme_info info_of(int fd);
volatile void *map_bar(int fd, unsigned long bytes);
struct gpunvme_alloc_coherent allocate(int fd, unsigned long bytes);
void *map_coherent(int fd, const struct gpunvme_alloc_coherent *memory);
/* Anonymous memory, filled with 0xa5. */
unsigned char *anonymous(unsigned long bytes);
/* Segments go to an array of the caller's, of MAX_SEGMENTS. */
struct gpunvme_pin_user pin(int fd, void *memory, unsigned long bytes,
			    struct gpunvme_segment *segments);
/* The frame behind an address, by /proc/self/pagemap. */
uint64_t frame_of(const void *address);
/*
 * The frame behind any mapping, by the kernel's own lookup. A negative errno where there is none.
 */
int lookup(const volatile void *address, uint64_t *frame);
void notify_by(int fd, int event);
/* Marks the function as pulled out, or undoes that. */
void pull(bool out);
/* Sets or clears a capability of this process in its effective set. */
void set_capability(int capability, bool on);
/* The kernel's log from here on. */
int kernel_log(void);
/* Whether it has a line with this text in time; reads on where the last call found one. */
bool logs(int log, const char *part, int timeout_ms);
/* Whether an eventfd is signalled in time; takes what it counted. */
bool signalled(int event, int timeout_ms);
/* Whether reading there ends in a signal, and which: SIGBUS, SIGSEGV, 0. */
int fault_at(const volatile void *address);

/* nvme.c: as little of a driver as reads the serial number. */
struct controller {
	int fd;
	volatile uint32_t *registers;
	struct gpunvme_alloc_coherent queues;
	unsigned char *memory;
	unsigned int tail, head, phase;
};
void start(struct controller *controller, int fd);
/* Identify Controller into the memory at `iova`; false where no completion comes in two seconds. */
bool identify(struct controller *controller, uint64_t iova);
/* Submits without waiting. */
void submit_identify(struct controller *controller, uint64_t iova);
/* The serial number in what Identify has written. */
const char *serial_of(const void *identified);

/* A case by name, with the arguments that are left. */
struct check {
	const char *name;
	void (*run)(char **arguments);
};
extern const struct check register_checks[], errno_checks[], random_checks[], memory_checks[],
	end_checks[], event_checks[], dmabuf_checks[], privilege_checks[], fallback_checks[];

#endif
