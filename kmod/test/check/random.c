// SPDX-License-Identifier: GPL-2.0-only
/* Requests as they come, from a seed. */
#include "check.h"

#define REQUESTS 10000

static uint64_t state;

/* xorshift64* (Marsaglia 2003, Vigna 2016). */
static uint64_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1d;
}

static unsigned char *memory;

/* Values that are nearly right more often than chance has them. */
static uint64_t value(void)
{
	static const uint64_t kept[] = { 0,	     1,		 2,	3,
					 4,	     8,		 PAGE,	2 * PAGE,
					 1ull << 26, 1ull << 32, ~0ull, -(uint64_t)PAGE };

	switch (next() % 4) {
	case 0:
		return next();
	case 1:
		return next() % 64;
	case 2:
		return (uintptr_t)memory + next() % 64 * PAGE;
	default:
		return kept[next() % (sizeof(kept) / sizeof(*kept))];
	}
}

static void fill(unsigned char *argument, unsigned int size)
{
	for (unsigned int at = 0; at < size; at += 4 + next() % 2 * 4) {
		/* What is reserved has to be zero. */
		uint64_t each = next() % 2 ? value() : 0;

		memcpy(argument + at, &each, size - at < 8 ? 4 : 8);
	}
	if (next() % 8)
		memcpy(argument, &size, 4);
	if (next() % 4)
		argument[4] = (unsigned char)(next() % 8), memset(argument + 5, 0, 3);
}

/* Resets take their time; a few of them are enough. */
static unsigned int request_kind(void)
{
	unsigned int kind = next() % 11;

	while (kind == 7 && next() % 16)
		kind = next() % 11;
	return kind;
}

/*
 * Descriptors up to 63 are what it finds open: none of them is anything that requests could take.
 */
static void chance(char **arguments)
{
	static const unsigned int sizes[] = { 128, 40, 48, 40, 32, 16, 16, 16, 16, 16, 24 };
	uint64_t seed = strtoull(arguments[0], NULL, 10);
	unsigned int kinds[134] = { 0 }, succeeded = 0, different = 0;
	unsigned long long before = pinned_pages();
	int fd = open_node();

	state = seed * 2654435761u + 1;
	/* At a place of its own, so that a seed gives the same requests again. */
	memory = mmap((void *)0x200000000, 64 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory == MAP_FAILED)
		die("no memory");
	for (int i = 0; i < REQUESTS; i++) {
		unsigned char argument[256] = { 0 };
		unsigned int kind = request_kind();
		unsigned int size = next() % 8 ? sizes[kind] : next() % sizeof(argument);
		unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, GPUNVME_IOC_TYPE, kind, size);
		int error;

		if (next() % 32 == 0)
			request = (unsigned int)next();
		fill(argument, size < 8 ? 8 : size & ~3u);
		error = -ask(fd, request,
			     next() % 32 ? (void *)argument : (void *)(uintptr_t)value());
		if (error < 0 || error > 133)
			die("request %d of seed %llu: errno %d", i, (unsigned long long)seed,
			    error);
		succeeded += error == 0;
		different += kinds[error]++ == 0;
		/* What was taken must not be all there is. */
		if (i % 500 == 499) {
			close(fd);
			fd = open_node();
		}
	}
	truth("someSucceeded", succeeded > 100);
	truth("manyKinds", different >= 8);
	for (unsigned int i = 0; i < 134; i++)
		if (kinds[i])
			fprintf(stderr, "%s %u\n", name_of((int)i), kinds[i]);
	set_bus_master(fd, false);
	close(fd);
	usleep(100000);
	number("leftPinned", pinned_pages() - before);
}

const struct check random_checks[] = { { "random", chance }, { NULL, NULL } };
