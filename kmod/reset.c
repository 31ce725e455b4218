// SPDX-License-Identifier: GPL-2.0-only
/* Resets: the owner's, somebody else's, and those of PCIe error recovery. */
#include "gpunvme.h"

/*
 * The link's reset would be that of everything behind it. Nothing is locked: error recovery holds
 * the lock of buses while it waits for ours.
 */
static bool is_alone(struct pci_dev *pdev)
{
	return list_is_singular(&pdev->bus->devices);
}

u32 gpunvme_reset_methods(struct gpunvme *g)
{
	struct pci_dev *pdev = g->pdev;
	u32 methods = 0;

	if (pdev->reset_methods[0])
		methods |= GPUNVME_RESET_FUNCTION;
	if (!pci_probe_reset_bus(pdev->bus) && is_alone(pdev))
		methods |= GPUNVME_RESET_BUS;
	return methods;
}

/* Under the lock. The device lock is tried for: who holds it may be waiting for ours. */
int gpunvme_reset(struct gpunvme *g, struct gpunvme_reset *args)
{
	struct pci_dev *pdev = g->pdev;
	int error;

	if (args->method != GPUNVME_RESET_FUNCTION && args->method != GPUNVME_RESET_BUS)
		return -EINVAL;
	if (args->method == GPUNVME_RESET_BUS && !is_alone(pdev))
		return -EBUSY;
	if (!(gpunvme_reset_methods(g) & args->method))
		return -EOPNOTSUPP;
	/* So that the kernel finds it off when it saves the configuration that it restores. */
	gpunvme_stop_dma(g);
	g->resetter = current;
	if (args->method == GPUNVME_RESET_FUNCTION)
		error = pci_try_reset_function(pdev);
	else
		error = pci_reset_bus(pdev);
	g->resetter = NULL;
	if (error && error != -EAGAIN) {
		pci_info(pdev, "reset failed: %d\n", error);
		error = -EIO;
	}
	return error;
}

void gpunvme_set_resetting(struct gpunvme *g, bool resetting)
{
	spin_lock(&g->dma_lock);
	g->resetting = resetting;
	spin_unlock(&g->dma_lock);
}

static void set_failed(struct gpunvme *g, bool failed)
{
	spin_lock(&g->dma_lock);
	g->failed = failed;
	spin_unlock(&g->dma_lock);
}

/* Before a reset that was asked for by sysfs, or by a neighbour of this function. */
static void reset_prepare(struct pci_dev *pdev)
{
	struct gpunvme *g = pci_get_drvdata(pdev);

	if (READ_ONCE(g->resetter) == current)
		return;
	mutex_lock(&g->lock);
	gpunvme_set_resetting(g, true);
	gpunvme_quiesce(g);
	mutex_unlock(&g->lock);
}

static void reset_done(struct pci_dev *pdev)
{
	struct gpunvme *g = pci_get_drvdata(pdev);

	if (READ_ONCE(g->resetter) == current)
		return;
	set_failed(g, false);
	gpunvme_set_resetting(g, false);
	gpunvme_event(g, GPUNVME_EVENT_RESET);
}

/* Memory stays pinned until its owner ends: DMA is stopped, and what was lost is told. */
static pci_ers_result_t error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct gpunvme *g = pci_get_drvdata(pdev);

	pci_info(pdev, "PCIe error, channel state %d: DMA is stopped\n", state);
	mutex_lock(&g->lock);
	gpunvme_set_resetting(g, true);
	gpunvme_halt(g);
	mutex_unlock(&g->lock);
	gpunvme_event(g, GPUNVME_EVENT_ERROR);
	switch (state) {
	case pci_channel_io_normal:
		return PCI_ERS_RESULT_CAN_RECOVER;
	case pci_channel_io_frozen:
		return PCI_ERS_RESULT_NEED_RESET;
	default:
		set_failed(g, true);
		return PCI_ERS_RESULT_DISCONNECT;
	}
}

static pci_ers_result_t slot_reset(struct pci_dev *pdev)
{
	struct gpunvme *g = pci_get_drvdata(pdev);
	int error;

	mutex_lock(&g->lock);
	error = g->saved ? pci_load_saved_state(pdev, g->saved) : -ENOMEM;
	if (!error) {
		pci_restore_state(pdev);
		gpunvme_quiesce(g);
	}
	mutex_unlock(&g->lock);
	if (!error)
		return PCI_ERS_RESULT_RECOVERED;
	set_failed(g, true);
	return PCI_ERS_RESULT_DISCONNECT;
}

static void error_resume(struct pci_dev *pdev)
{
	struct gpunvme *g = pci_get_drvdata(pdev);

	gpunvme_set_resetting(g, false);
	gpunvme_event(g, GPUNVME_EVENT_ERROR);
}

const struct pci_error_handlers gpunvme_error_handlers = {
	.error_detected = error_detected,
	.slot_reset = slot_reset,
	.resume = error_resume,
	.reset_prepare = reset_prepare,
	.reset_done = reset_done,
};
