// SPDX-License-Identifier: GPL-2.0-only
/* NVMe Base 2.1: the admin queue (§3.5.1), and Identify (§5.1.13). Enough to see DMA arrive. */
#include "check.h"

enum {
	CAP = 0,
	CC = 0x14 / 4,
	CSTS = 0x1c / 4,
	AQA = 0x24 / 4,
	ASQ = 0x28 / 4,
	ACQ = 0x30 / 4,
	SQ0 = 0x1000 / 4
};
enum { ENTRIES = 16, CQ_OFFSET = 4096, SQE_BYTES = 64, CQE_BYTES = 16 };

static void wait_ready(struct controller *controller, uint32_t ready)
{
	uint64_t until = now_ms() + 10000;

	while ((controller->registers[CSTS] & 1) != ready)
		if (now_ms() > until)
			die("CSTS.RDY does not become %u: CSTS 0x%x", ready,
			    controller->registers[CSTS]);
}

static void write64(volatile uint32_t *reg, uint64_t value)
{
	reg[0] = (uint32_t)value;
	reg[1] = (uint32_t)(value >> 32);
}

void start(struct controller *controller, int fd)
{
	*controller =
		(struct controller){ .fd = fd, .registers = map_bar(fd, 2 * PAGE), .phase = 1 };
	controller->queues = allocate(fd, 2 * PAGE);
	controller->memory = map_coherent(fd, &controller->queues);
	controller->registers[CC] = 0;
	wait_ready(controller, 0);
	controller->registers[AQA] = (ENTRIES - 1) << 16 | (ENTRIES - 1);
	write64(controller->registers + ASQ, controller->queues.iova);
	write64(controller->registers + ACQ, controller->queues.iova + CQ_OFFSET);
	set_bus_master(fd, true);
	controller->registers[CC] = 4 << 20 | 6 << 16 | 1;
	wait_ready(controller, 1);
}

void submit_identify(struct controller *controller, uint64_t iova)
{
	uint32_t entry[16] = {
		[0] = 0x06, [6] = (uint32_t)iova, [7] = (uint32_t)(iova >> 32), [10] = 1
	};

	memcpy(controller->memory + controller->tail * SQE_BYTES, entry, SQE_BYTES);
	controller->tail = (controller->tail + 1) % ENTRIES;
	__sync_synchronize();
	controller->registers[SQ0] = controller->tail;
}

bool identify(struct controller *controller, uint64_t iova)
{
	volatile uint32_t *entry =
		(void *)(controller->memory + CQ_OFFSET + controller->head * CQE_BYTES);
	uint64_t until = now_ms() + 2000;

	submit_identify(controller, iova);
	while ((entry[3] >> 16 & 1) != controller->phase)
		if (now_ms() > until)
			return false;
	if (entry[3] >> 17)
		die("Identify ended with status 0x%x", entry[3] >> 17);
	controller->head = (controller->head + 1) % ENTRIES;
	controller->phase ^= controller->head == 0;
	controller->registers[SQ0 + 1] = controller->head;
	return true;
}

const char *serial_of(const void *identified)
{
	static char serial[21];

	memcpy(serial, (const char *)identified + 4, 20);
	for (int i = 19; i >= 0 && serial[i] == ' '; i--)
		serial[i] = 0;
	return serial;
}
