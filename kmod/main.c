// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver: binds controllers that were given to it by name, and lets go of them whatever
 * their owner does.
 */
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "gpunvme.h"

static DEFINE_IDA(indices);

/*
 * Memory that the controller's registers take before the doorbells: NVMe Base 2.1 §3.1.4, and the
 * first of them.
 */
#define SMALLEST_BAR 0x2000

/* How often remove() logs which process it waits for, and how long it waits after a SIGKILL. */
#define REPORT_SECONDS 10

static unsigned int gone_timeout = 60;
module_param(gone_timeout, uint, 0644);
MODULE_PARM_DESC(gone_timeout,
		 "Seconds until the owner of a controller that was pulled out is killed (default: 60)");

static int read_bar(struct gpunvme *g)
{
	struct pci_dev *pdev = g->pdev;
	resource_size_t length = pci_resource_len(pdev, 0);

	if (!(pci_resource_flags(pdev, 0) & IORESOURCE_MEM) || length < SMALLEST_BAR ||
	    length > BIT_ULL(GPUNVME_HANDLE_SHIFT)) {
		pci_err(pdev, "BAR 0 is no memory that NVMe registers could be in: %pR\n",
			&pdev->resource[0]);
		return -ENODEV;
	}
	g->bar_pfn = pci_resource_start(pdev, 0) >> PAGE_SHIFT;
	g->bar_pages = length >> PAGE_SHIFT;
	g->registers = pci_iomap(pdev, 0, PAGE_SIZE);
	if (!g->registers)
		return -ENOMEM;
	gpunvme_find_hidden(g);
	return 0;
}

static int prepare_device(struct gpunvme *g)
{
	struct pci_dev *pdev = g->pdev;
	int error;

	error = pci_enable_device_mem(pdev);
	if (error)
		return error;
	/*
	 * What the last driver, or the firmware, left running may still write to memory that has
	 * long been others'.
	 */
	gpunvme_stop_dma(g);
	error = pci_request_region(pdev, 0, KBUILD_MODNAME);
	if (error)
		goto disable;
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		goto release;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	error = read_bar(g);
	if (error)
		goto release;
	gpunvme_quiesce(g);
	/*
	 * For the end of an error that took it away: with bus mastering off. Without memory for it,
	 * there is no recovery.
	 */
	pci_save_state(pdev);
	g->saved = pci_store_saved_state(pdev);
	return 0;

release:
	pci_release_region(pdev, 0);
disable:
	pci_disable_device(pdev);
	return error;
}

static void release_device(struct gpunvme *g)
{
	kfree(g->saved);
	pci_iounmap(g->pdev, g->registers);
	pci_release_region(g->pdev, 0);
	pci_disable_device(g->pdev);
}

static int gpunvme_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct gpunvme *g;
	int error;

	/*
	 * Only the entry below says so: not one that was written to new_id, nor what stands in for
	 * any function.
	 */
	if (!id->override_only) {
		pci_err(pdev, "binds NVMe controllers, and only by driver_override\n");
		return -ENODEV;
	}
	g = kzalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	kref_init(&g->ref);
	mutex_init(&g->lock);
	spin_lock_init(&g->dma_lock);
	init_waitqueue_head(&g->closed);
	xa_init_flags(&g->memories, XA_FLAGS_ALLOC1);
	g->pdev = pdev;
	error = prepare_device(g);
	if (error)
		goto put;
	g->index = ida_alloc(&indices, GFP_KERNEL);
	if (g->index < 0) {
		error = g->index;
		goto release;
	}
	snprintf(g->name, sizeof(g->name), "gpunvme%d", g->index);
	g->misc = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = g->name,
		.fops = &gpunvme_file_operations,
		.parent = &pdev->dev,
		.mode = 0600,
	};
	pci_set_drvdata(pdev, g);
	error = misc_register(&g->misc);
	if (error)
		goto free_index;
	/* From here on it may sleep, where power/control of the function says auto. */
	pm_runtime_put_noidle(&pdev->dev);
	pci_info(pdev, "/dev/%s\n", g->name);
	return 0;

free_index:
	ida_free(&indices, g->index);
release:
	release_device(g);
put:
	gpunvme_put(g);
	return error;
}

/*
 * Takes every mapping away. A mapping that is just being made is not in the file's list of them
 * yet: wait for it.
 */
static void revoke_mappings(struct gpunvme *g)
{
	struct mm_struct *mm = NULL;

	mutex_lock(&g->lock);
	if (g->mm && mmget_not_zero(g->mm))
		mm = g->mm;
	mutex_unlock(&g->lock);
	if (mm) {
		mmap_read_lock(mm);
		mmap_read_unlock(mm);
		mmput(mm);
	}
	mutex_lock(&g->lock);
	if (g->mapping)
		unmap_mapping_range(g->mapping, 0, 0, 1);
	mutex_unlock(&g->lock);
}

/* @kill: the hardware is gone, and the process has kept the file open for too long. */
static void report_owner(struct gpunvme *g, bool kill)
{
	mutex_lock(&g->lock);
	if (g->mm) {
		pci_warn(g->pdev, "%s process %d, which keeps /dev/%s open\n",
			 kill ? "killing" : "waiting for", pid_nr(g->owner), g->name);
		if (kill)
			kill_pid(g->owner, SIGKILL, 1);
	}
	mutex_unlock(&g->lock);
}

/*
 * A GPU may have mapped BAR0, which no kernel interface reports: its stores would reach the device
 * that gets this address range next. The open file stands for that mapping, and the range is kept
 * until it is closed, as VFIO does. VFIO also waits when the hardware is gone; but pciehp waits for
 * this, and then no slot of the port works. So that wait has an end.
 */
static void wait_for_close(struct gpunvme *g)
{
	unsigned int limit = max(READ_ONCE(gone_timeout), 1u);
	unsigned int seconds = 0;
	unsigned int gone = 0;

	/* A process that unbinds the controller that it has open would wait for itself. */
	while (READ_ONCE(g->mm) != current->mm &&
	       !wait_event_timeout(g->closed, !READ_ONCE(g->mm), HZ)) {
		if (gone || !pci_device_is_present(g->pdev))
			gone++;
		if (gone == limit)
			report_owner(g, true);
		else if (seconds++ % REPORT_SECONDS == 0)
			report_owner(g, false);
		if (gone > REPORT_SECONDS && gone - REPORT_SECONDS >= limit) {
			pci_warn(g->pdev, "/dev/%s is still open: %pR may be reused while mapped\n",
				 g->name, &g->pdev->resource[0]);
			return;
		}
	}
}

static void gpunvme_remove(struct pci_dev *pdev)
{
	struct gpunvme *g = pci_get_drvdata(pdev);
	bool open;

	pm_runtime_get_sync(&pdev->dev);
	misc_deregister(&g->misc);
	mutex_lock(&g->lock);
	g->dead = true;
	open = g->mm;
	mutex_unlock(&g->lock);
	revoke_mappings(g);

	mutex_lock(&g->lock);
	gpunvme_end_use(g);
	gpunvme_event(g, 0);
	mutex_unlock(&g->lock);
	wait_for_close(g);

	mutex_lock(&g->lock);
	release_device(g);
	g->pdev = NULL;
	mutex_unlock(&g->lock);
	/* What open(2) took; a release that comes later does not touch the device. */
	if (open)
		pm_runtime_put_noidle(&pdev->dev);
	ida_free(&indices, g->index);
	gpunvme_put(g);
}

static void gpunvme_shutdown(struct pci_dev *pdev)
{
	struct gpunvme *g = pci_get_drvdata(pdev);

	mutex_lock(&g->lock);
	/* Threads of the owner may still run. */
	gpunvme_set_resetting(g, true);
	gpunvme_quiesce(g);
	mutex_unlock(&g->lock);
}

/* Not in the module's table of devices: nothing may load it because there is an NVMe controller. */
static const struct pci_device_id ids[] = {
	{
		PCI_DEVICE_DRIVER_OVERRIDE(PCI_ANY_ID, PCI_ANY_ID, 1),
		.class = PCI_CLASS_STORAGE_EXPRESS,
		.class_mask = 0xffffff,
	},
	{},
};

static struct pci_driver gpunvme_driver = {
	.name = KBUILD_MODNAME,
	.id_table = ids,
	.probe = gpunvme_probe,
	.remove = gpunvme_remove,
	.shutdown = gpunvme_shutdown,
	.err_handler = &gpunvme_error_handlers,
	.driver.pm = pm_sleep_ptr(&gpunvme_power),
};
module_pci_driver(gpunvme_driver);

MODULE_DESCRIPTION("NVMe controllers for drivers in user space, and for GPUs");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0.0");
#ifdef GPUNVME_HAS_BARE_NAMESPACE
MODULE_IMPORT_NS(DMA_BUF);
#else
MODULE_IMPORT_NS("DMA_BUF");
#endif
