// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to a controller while it is open: resets, sleep of the machine, and of the function.
 */
#include "check.h"

#include <sys/reboot.h>

static struct gpunvme_segment segments[MAX_SEGMENTS];

static const char *resets(int fd, uint32_t method)
{
	struct gpunvme_reset reset = { .size = sizeof(reset), .method = method };

	return name_of(ask(fd, GPUNVME_RESET, &reset));
}

/* Whether the controller, after whatever it was, has forgotten its queues, and works once more. */
static void works(int fd, unsigned char *memory, const char *key)
{
	volatile uint32_t *registers = map_bar(fd, PAGE);
	bool disabled = !(registers[5] & 1) && !info_of(fd).bus_master;
	struct controller controller;

	memset(memory, 0xa5, PAGE);
	start(&controller, fd);
	truth(key, disabled && identify(&controller, segments[0].iova) && memory[4] != 0xa5);
}

static void reset(char **arguments)
{
	int fd = open_node();
	int event = eventfd(0, 0);
	unsigned char *memory = anonymous(PAGE);
	struct controller controller;

	(void)arguments;
	notify_by(fd, event);
	pin(fd, memory, PAGE, segments);
	start(&controller, fd);
	number("methods", info_of(fd).reset_methods);
	text("function", resets(fd, GPUNVME_RESET_FUNCTION));
	works(fd, memory, "functionWorks");
	number("eventsOfOwn", info_of(fd).events);
	truth("toldOfOwn", signalled(event, 0));
	text("bus", resets(fd, GPUNVME_RESET_BUS));
	if (info_of(fd).reset_methods & GPUNVME_RESET_BUS)
		works(fd, memory, "busWorks");
	/* By another way than the module's. */
	text("bySysfs", name_of(write_file(sysfs("reset"), "1")));
	truth("told", signalled(event, 1000));
	number("events", info_of(fd).events);
	works(fd, memory, "works");
}

/* Many resets of the link while interrupts are in use, by its owner. */
static void bus_resets(char **arguments)
{
	int fd = open_node();
	struct gpunvme_set_irq irq = { .size = sizeof(irq), .vector = 0, .fd = eventfd(0, 0) };
	unsigned char *memory = anonymous(PAGE);
	unsigned long count = strtoul(arguments[0], NULL, 10), done = 0;
	struct controller controller;

	pin(fd, memory, PAGE, segments);
	must(fd, GPUNVME_SET_IRQ, &irq);
	for (; done < count; done++) {
		start(&controller, fd);
		if (!identify(&controller, segments[0].iova) || !signalled(irq.fd, 5000))
			break;
		submit_identify(&controller, segments[0].iova);
		/* EIO on QEMU, whose port does not restore the link in time. */
		resets(fd, GPUNVME_RESET_BUS);
		munmap((void *)controller.registers, 2 * PAGE);
		munmap(controller.memory, 2 * PAGE);
		must(fd, GPUNVME_RELEASE,
		     &(struct gpunvme_release){ .size = sizeof(struct gpunvme_release),
						.handle = controller.queues.handle });
	}
	number("resets", done);
}

/*
 * Devices are suspended and woken up by the kernel's own rehearsal, which leaves the processor on.
 * The guest's 9p and second serial port do not come back from that: what is found goes to the
 * console, and the guest is turned off.
 */
static void sleeps(char **arguments)
{
	int fd = open_node();
	int event = eventfd(0, 0);
	unsigned char *memory = anonymous(PAGE);
	struct gpunvme_info info;
	struct controller controller;

	(void)arguments;
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || !freopen("/dev/kmsg", "w", stdout))
		die("the console cannot be had");
	/* One record, and of a level that is not quiet. */
	setvbuf(stdout, NULL, _IOFBF, 4096);
	printf("<1>gpunvme sleep: ");
	notify_by(fd, event);
	pin(fd, memory, PAGE, segments);
	start(&controller, fd);
	text("rehearse", name_of(write_file("/sys/power/pm_test", "devices")));
	text("sleep", name_of(write_file("/sys/power/state", "mem")));
	truth("told", signalled(event, 1000));
	info = info_of(fd);
	number("events", info.events);
	number("powerState", info.power_state);
	number("busMaster", info.bus_master);
	works(fd, memory, "works");
	finish();
	fflush(stdout);
	reboot(RB_POWER_OFF);
}

static void wait_for_status(const char *status)
{
	uint64_t until = now_ms() + 5000;

	while (strcmp(content_of(sysfs("power/runtime_status")), status) && now_ms() < until)
		usleep(20000);
}

/* Asleep while it is closed, awake from open to close. */
static void power(char **arguments)
{
	unsigned char *memory = anonymous(PAGE);
	int fd;

	(void)arguments;
	text("auto", name_of(write_file(sysfs("power/control"), "auto")));
	wait_for_status("suspended");
	text("closed", content_of(sysfs("power/runtime_status")));
	text("closedState", content_of(sysfs("power_state")));
	fd = open_node();
	text("open", content_of(sysfs("power/runtime_status")));
	number("powerState", info_of(fd).power_state);
	pin(fd, memory, PAGE, segments);
	works(fd, memory, "works");
	write_file(sysfs("power/control"), "on");
}

const struct check event_checks[] = {
	{ "reset", reset }, { "bus-resets", bus_resets }, { "sleep", sleeps },
	{ "power", power }, { NULL, NULL }
};
