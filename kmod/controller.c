// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller's own registers, as far as it takes to end what it does. The header is generated:
 * docs/reference/spec-map.md.
 */
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>

#include <gpunvme/nvme_spec.h>

#include "gpunvme.h"

/* CAP.TO may say 127 s; who closes a file does not wait that long, since there is FLR. */
#define LONGEST_DISABLE_US (10 * USEC_PER_SEC)
/* The unit of CAP.TO. */
#define TIMEOUT_UNIT_US (500 * USEC_PER_MSEC)
#define POLL_US 1000

/* Registers of what is not there read as ones. */
static bool is_gone(u32 value)
{
	return value == U32_MAX;
}

bool gpunvme_answers(struct gpunvme *g)
{
	return !is_gone(readl(g->registers + GPUNVME_REG_CSTS)) &&
	       !is_gone(readl(g->registers + GPUNVME_REG_CAP));
}

/* May be called under a dma-buf's reservation lock. */
void gpunvme_stop_dma(struct gpunvme *g)
{
	u16 command;

	spin_lock(&g->dma_lock);
	pci_clear_master(g->pdev);
	/* The answer to this comes after all that the function had sent before. */
	pci_read_config_word(g->pdev, PCI_COMMAND, &command);
	spin_unlock(&g->dma_lock);
}

/*
 * Ends DMA without waiting. What was in its queues is forgotten once CSTS.RDY has followed, which is
 * waited for before bus mastering can come back.
 */
void gpunvme_halt(struct gpunvme *g)
{
	u32 cc;

	gpunvme_stop_dma(g);
	cc = readl(g->registers + GPUNVME_REG_CC);
	if (!is_gone(cc) && cc & GPUNVME_CC_EN_MASK)
		writel(cc & ~GPUNVME_CC_EN_MASK, g->registers + GPUNVME_REG_CC);
}

/* Waits for CSTS.RDY to follow CC.EN (NVMe Base 2.1 §3.5.3). False where it does not in time. */
static bool is_disabled(struct gpunvme *g)
{
	u64 cap = readq(g->registers + GPUNVME_REG_CAP);
	u64 units = GPUNVME_FIELD_GET(GPUNVME_CAP_TO, cap) + 1;
	u32 csts;

	return !read_poll_timeout(readl, csts, is_gone(csts) || !(csts & GPUNVME_CSTS_RDY_MASK),
				  POLL_US, min_t(u64, units * TIMEOUT_UNIT_US, LONGEST_DISABLE_US),
				  false, g->registers + GPUNVME_REG_CSTS);
}

/*
 * The end of all that the controller does: bus mastering is off, and it is disabled, reset by FLR
 * where it does not follow, or gone. False where there is no FLR either: it cannot reach memory as
 * long as bus mastering stays off.
 */
bool gpunvme_quiesce(struct gpunvme *g)
{
	struct pci_dev *pdev = g->pdev;
	int error;

	gpunvme_halt(g);
	if (is_disabled(g))
		return true;
	pci_wait_for_pending_transaction(pdev);
	pci_info(pdev, "CSTS.RDY did not follow CC.EN: resetting the function\n");
	pci_save_state(pdev);
	error = pcie_reset_flr(pdev, PCI_RESET_DO_RESET);
	if (error)
		pci_info(pdev, "the function cannot be reset; bus mastering stays off\n");
	pci_restore_state(pdev);
	return !error;
}

int gpunvme_set_bus_master(struct gpunvme *g, struct gpunvme_set_bus_master *args)
{
	u16 command;
	int error = 0;

	if (args->enable > 1)
		return -EINVAL;
	if (!args->enable) {
		gpunvme_stop_dma(g);
		return 0;
	}
	/* Together with the looks: an exporter may be about to take its memory back. */
	spin_lock(&g->dma_lock);
	if (g->revoked_count)
		error = -ESTALE;
	else if (g->failed)
		error = -EIO;
	else if (g->resetting)
		error = -EAGAIN;
	else
		pci_set_master(g->pdev);
	spin_unlock(&g->dma_lock);
	if (error)
		return error;
	pci_read_config_word(g->pdev, PCI_COMMAND, &command);
	return command == U16_MAX ? -EIO : 0;
}
