// SPDX-License-Identifier: GPL-2.0-only
/* Ends of ownership: death, unbinding and removal, each with DMA on its way and mappings in use. */
#include "check.h"

static struct gpunvme_segment segments[MAX_SEGMENTS];

/* An owner with everything that one can have. */
struct owner {
	int fd;
	int event;
	struct controller controller;
	unsigned char *memory;
	struct gpunvme_pin_user pinned;
	/* Behind the registers. */
	uint64_t frame;
};

/* Where queues leave coherent memory alone. */
#define MARKER_AT 2048

static void own(struct owner *owner)
{
	struct gpunvme_set_irq irq = { .size = sizeof(irq), .vector = 0 };

	owner->fd = open_node();
	owner->event = eventfd(0, 0);
	owner->memory = anonymous(64 * PAGE);
	owner->pinned = pin(owner->fd, owner->memory, 64 * PAGE, segments);
	irq.fd = eventfd(0, 0);
	must(owner->fd, GPUNVME_SET_IRQ, &irq);
	notify_by(owner->fd, owner->event);
	start(&owner->controller, owner->fd);
	strcpy((char *)owner->controller.memory + MARKER_AT, "as it was");
	if (lookup(owner->controller.registers, &owner->frame))
		die("the registers have no frame");
}

static unsigned int command_register(void)
{
	unsigned short command = 0xffff;
	int fd = open(sysfs("config"), O_RDONLY);

	if (fd < 0 || pread(fd, &command, 2, 4) != 2)
		die("the configuration cannot be read");
	close(fd);
	return command;
}

/* A child dies of SIGKILL in the middle of commands. */
static void killed(char **arguments)
{
	unsigned long long before = pinned_pages();
	struct controller controller;
	struct owner owner;
	uint64_t started;
	int ready[2], status;
	char byte;
	pid_t child;

	(void)arguments;
	if (pipe(ready))
		die("no pipe");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		own(&owner);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			if (!identify(&owner.controller, segments[0].iova))
				_exit(2);
	}
	if (read(ready[0], &byte, 1) != 1)
		die("the child did not start");
	usleep(200000);
	truth("pinnedBefore", pinned_pages() - before == 64);
	truth("masterBefore", command_register() & 4);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	truth("died", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	started = now_ms();
	owner.fd = open_node();
	truth("soon", now_ms() - started < 5000);
	number("pinnedAfter", pinned_pages() - before);
	number("masterAfter", command_register() & 4);
	number("enabledAfter", ((volatile uint32_t *)map_bar(owner.fd, PAGE))[5] & 1);
	owner.memory = anonymous(PAGE);
	pin(owner.fd, owner.memory, PAGE, segments);
	start(&controller, owner.fd);
	truth("next", identify(&controller, segments[0].iova));
	text("serial", serial_of(owner.memory));
}

/* Everything that an owner can still do with what has gone. */
static void afterwards(struct owner *owner)
{
	struct gpunvme_info info = { .size = sizeof(info) };
	struct gpunvme_release release = { .size = sizeof(release),
					   .handle = owner->pinned.handle };
	struct gpunvme_pin_user again = owner->pinned;
	struct gpunvme_alloc_coherent alloc = { .size = sizeof(alloc), .length = PAGE };
	struct gpunvme_set_irq irq = { .size = sizeof(irq), .fd = -1 };
	void *mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, owner->fd, 0);
	uint64_t frame;

	text("mmap", mapped == MAP_FAILED ? name_of(errno) : "OK");
	truth("noFrame", lookup(owner->controller.registers, &frame) &&
				 lookup(owner->controller.memory, &frame));
	text("info", name_of(ask(owner->fd, GPUNVME_GET_INFO, &info)));
	text("release", name_of(ask(owner->fd, GPUNVME_RELEASE, &release)));
	text("pin", name_of(ask(owner->fd, GPUNVME_PIN_USER, &again)));
	text("alloc", name_of(ask(owner->fd, GPUNVME_ALLOC_COHERENT, &alloc)));
	text("irq", name_of(ask(owner->fd, GPUNVME_SET_IRQ, &irq)));
	/*
	 * As of hardware that was pulled out: ones, whatever is written there, and memory as it
	 * was.
	 */
	owner->controller.registers[0x1000 / 4] = 7;
	number("registers", owner->controller.registers[2]);
	truth("otherFrame", !lookup(owner->controller.registers, &frame) && frame != owner->frame);
	text("coherent", (char *)owner->controller.memory + MARKER_AT);
	truth("ownMemory", owner->memory[64 * PAGE - 1] == 0xa5);
	number("vmPinKiB", counter("/proc/self/status", "VmPin:"));
}

/* Mappings hold the file as well. */
static void let_go(struct owner *owner)
{
	close(owner->fd);
	munmap((void *)owner->controller.registers, 2 * PAGE);
	munmap(owner->controller.memory, 2 * PAGE);
}

static const char *drivers(const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/gpunvme/%s", file);
	return name_of(write_file(path, bdf));
}

/* Another process unbinds the driver while everything is in use, and waits until nothing is. */
static void unbound(char **arguments)
{
	unsigned long long before = pinned_pages();
	int log = kernel_log();
	struct owner owner;
	int status;
	pid_t child;

	(void)arguments;
	own(&owner);
	submit_identify(&owner.controller, segments[0].iova);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		close(owner.fd);
		_exit(strcmp(drivers("unbind"), "OK") != 0);
	}
	truth("told", signalled(owner.event, 10000));
	truth("nodeGone", access(node, F_OK) != 0);
	number("master", command_register() & 4);
	number("pinnedAfter", pinned_pages() - before);
	afterwards(&owner);
	truth("saysSo", logs(log, "waiting for process", 30000));
	truth("waits", waitpid(child, &status, WNOHANG) == 0);
	let_go(&owner);
	truth("unbound", waitpid(child, &status, 0) == child && status == 0);
	text("bind", drivers("bind"));
}

/* It would wait for itself. */
static void unbound_itself(char **arguments)
{
	struct owner owner;

	(void)arguments;
	own(&owner);
	submit_identify(&owner.controller, segments[0].iova);
	text("unbind", drivers("unbind"));
	truth("told", signalled(owner.event, 1000));
	number("master", command_register() & 4);
	afterwards(&owner);
	let_go(&owner);
	text("bind", drivers("bind"));
}

/*
 * The device is gone at once, and its owner neither looks at the event nor ends. With an heir, the
 * file stays open even after the owner's death.
 */
static void pulled(char **arguments)
{
	bool has_heir = arguments[0] && !strcmp(arguments[0], "heir");
	int log = kernel_log();
	struct controller controller;
	unsigned char *memory;
	pid_t child, heir = 0;
	struct owner owner;
	int ready[2], status;

	if (pipe(ready) || write_file("/sys/module/gpunvme/parameters/gone_timeout", "1"))
		die("no pipe, or no parameter");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		own(&owner);
		if (has_heir && (heir = fork()) == 0)
			for (;;)
				pause();
		if (write(ready[1], &heir, sizeof(heir)) != sizeof(heir))
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &heir, sizeof(heir)) != sizeof(heir))
		die("the child did not start");
	pull(true);
	text("unbind", drivers("unbind"));
	truth("saysSo", logs(log, "killing process", 1000));
	truth("givesUp", has_heir && logs(log, "is still open", 1000));
	waitpid(child, &status, 0);
	truth("killed", WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	if (heir)
		kill(heir, SIGKILL);
	pull(false);
	text("bind", drivers("bind"));
	owner.fd = open_node();
	memory = anonymous(PAGE);
	pin(owner.fd, memory, PAGE, segments);
	start(&controller, owner.fd);
	truth("works", identify(&controller, segments[0].iova));
}

/* The device is pulled out; QEMU is asked by a line that the test outside reads. */
static void removed(char **arguments)
{
	unsigned long long before = pinned_pages();
	int log = kernel_log();
	struct owner owner;
	uint64_t started;

	own(&owner);
	printf("{\"monitor\":{\"execute\":\"device_del\",\"arguments\":{\"id\":\"%s\"}}}\n",
	       arguments[0]);
	submit_identify(&owner.controller, segments[0].iova);
	/* The kernel lets five seconds pass in which the slot's button may be pressed once more. */
	truth("told", signalled(owner.event, 30000));
	truth("nodeGone", access(node, F_OK) != 0);
	number("pinnedAfter", pinned_pages() - before);
	afterwards(&owner);
	truth("saysSo", logs(log, "waiting for process", 30000));
	truth("waits", access(sysfs("vendor"), F_OK) == 0);
	let_go(&owner);
	started = now_ms();
	while (access(sysfs("vendor"), F_OK) == 0 && now_ms() - started < 10000)
		usleep(10000);
	truth("functionGone", access(sysfs("vendor"), F_OK) != 0);
}

/* A module in use stays. */
static void in_use(char **arguments)
{
	int fd = open_node();

	(void)arguments;
	text("unload", system("/tmp/vm/busybox rmmod gpunvme 2>/dev/null") == 0 ? "OK" : "refused");
	truth("still", ask(fd, GPUNVME_GET_INFO,
			   &(struct gpunvme_info){ .size = sizeof(struct gpunvme_info) }) == 0);
}

const struct check end_checks[] = { { "killed", killed },
				    { "unbound", unbound },
				    { "unbound-itself", unbound_itself },
				    { "pulled", pulled },
				    { "removed", removed },
				    { "in-use", in_use },
				    { NULL, NULL } };
