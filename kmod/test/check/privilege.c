// SPDX-License-Identifier: GPL-2.0-only
/* What opening takes where the controller can access all memory. */
#include "check.h"

#include <linux/capability.h>
#include <sys/mount.h>

/* TAINT_USER of the kernel's Documentation/admin-guide/tainted-kernels.rst. */
#define TAINT_U (1ul << 6)

static bool tainted(void)
{
	return strtoul(content_of("/proc/sys/kernel/tainted"), NULL, 10) & TAINT_U;
}

static const char *opening(void)
{
	int fd = open(node, O_RDWR | O_CLOEXEC);
	int error = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return name_of(error);
}

/* Before anything else opens a controller: a taint stays. */
static void privileges(char **arguments)
{
	(void)arguments;
	truth("taintedBefore", tainted());
	set_capability(CAP_SYS_RAWIO, false);
	text("withoutRawio", opening());
	truth("taintedThen", tainted());
	set_capability(CAP_SYS_RAWIO, true);
	text("withRawio", opening());
	truth("taintedAfter", tainted());
}

/* Irrevocable. With a parameter of the kernel, an unsigned module could not be loaded at all. */
static void locked(char **arguments)
{
	const char *const levels[] = { "integrity", "confidentiality" };

	(void)arguments;
	if (mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL) && errno != EBUSY)
		die("securityfs cannot be mounted");
	text("before", opening());
	for (int i = 0; i < 2; i++) {
		if (write_file("/sys/kernel/security/lockdown", levels[i]))
			die("the kernel cannot be locked down");
		text(levels[i], opening());
	}
}

const struct check privilege_checks[] = { { "privileges", privileges },
					  { "locked", locked },
					  { NULL, NULL } };
