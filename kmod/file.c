// SPDX-License-Identifier: GPL-2.0-only
/* One open file for each controller, and of that the address space that opened it. */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/pm_runtime.h>
#include <linux/sched/mm.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "gpunvme.h"

static void free_controller(struct kref *ref)
{
	struct gpunvme *g = container_of(ref, struct gpunvme, ref);

	xa_destroy(&g->memories);
	kfree(g);
}

void gpunvme_put(struct gpunvme *g)
{
	kref_put(&g->ref, free_controller);
}

/* Takes the lock for a request. */
int gpunvme_enter(struct gpunvme *g)
{
	if (mutex_lock_interruptible(&g->lock))
		return -EINTR;
	if (g->dead) {
		mutex_unlock(&g->lock);
		return -ENODEV;
	}
	return 0;
}

void gpunvme_leave(struct gpunvme *g)
{
	mutex_unlock(&g->lock);
}

/* Wakes the function up, and leaves the controller as one that knows nothing of an owner before. */
static int wake(struct gpunvme *g)
{
	struct pci_dev *pdev = g->pdev;
	int error = pm_runtime_resume_and_get(&pdev->dev);

	if (error < 0)
		return error;
	/* A driver before us may have put it to sleep by itself. */
	error = pci_set_power_state(pdev, PCI_D0);
	if (error)
		goto sleep;
	if (!gpunvme_answers(g)) {
		pci_err(pdev, "CAP and CSTS read as ones: the controller is off the bus\n");
		error = -EIO;
		goto sleep;
	}
	/*
	 * Off before vectors are allocated: turning it off then writes the Command register, with bus
	 * mastering as it was read, while an exporter may be turning that off.
	 */
	pci_intx(pdev, 0);
	/* One that does not stop may still have what the owner before gave back in its queues. */
	if (!gpunvme_quiesce(g)) {
		error = -EIO;
		goto sleep;
	}
	return 0;

sleep:
	pm_runtime_put(&pdev->dev);
	return error;
}

/*
 * Without translation, the owner can have the controller access all memory. That takes the same
 * capability as vfio-noiommu, and lockdown forbids it as it forbids the PCI files of sysfs.
 */
static int may_open(bool translated)
{
	if (translated)
		return 0;
	return capable(CAP_SYS_RAWIO) ? security_locked_down(LOCKDOWN_PCI_ACCESS) : -EPERM;
}

static void taint(struct gpunvme *g)
{
	add_taint(TAINT_USER, LOCKDEP_STILL_OK);
	pci_warn(g->pdev, "process %d (%s) can access all memory: no IOMMU translates; taint U\n",
		 task_tgid_nr(current), current->comm);
}

static int gpunvme_open(struct inode *inode, struct file *file)
{
	struct gpunvme *g = container_of(file->private_data, struct gpunvme, misc);
	bool translated;
	int error;

	if (atomic_xchg(&g->opened, 1))
		return -EBUSY;
	error = gpunvme_enter(g);
	if (error)
		goto close;
	translated = gpunvme_iommu_mode(&g->pdev->dev) == GPUNVME_IOMMU_TRANSLATED;
	error = may_open(translated);
	if (error)
		goto leave;
	error = wake(g);
	if (error)
		goto leave;
	g->gone = alloc_pages(GFP_KERNEL_ACCOUNT, GPUNVME_GONE_ORDER);
	if (!g->gone) {
		error = -ENOMEM;
		goto sleep;
	}
	memset(page_address(g->gone), 0xff, PAGE_SIZE << GPUNVME_GONE_ORDER);
	kref_get(&g->ref);
	mmgrab(current->mm);
	g->mm = current->mm;
	g->owner = get_pid(task_tgid(current));
	g->mapping = file->f_mapping;
	g->ended = false;
	g->events = 0;
	g->revoked_count = 0;
	file->private_data = g;
	if (!translated)
		taint(g);
	gpunvme_leave(g);
	return 0;

sleep:
	pm_runtime_put(&g->pdev->dev);
leave:
	gpunvme_leave(g);
close:
	atomic_set(&g->opened, 0);
	return error;
}

/*
 * In this order: while the controller may still access memory, none is given back. Under the lock.
 */
void gpunvme_end_use(struct gpunvme *g)
{
	if (g->ended)
		return;
	g->ended = true;
	gpunvme_quiesce(g);
	gpunvme_free_irqs(g);
	gpunvme_release_all(g);
}

/* The last mapping is gone too, since each holds the file. */
static int gpunvme_release(struct inode *inode, struct file *file)
{
	struct gpunvme *g = file->private_data;
	struct eventfd_ctx *notify;

	mutex_lock(&g->lock);
	/* Also where remove() has begun and not ended it yet: it needs what is forgotten below. */
	if (g->pdev)
		gpunvme_end_use(g);
	if (!g->dead)
		pm_runtime_put(&g->pdev->dev);
	mmdrop(g->mm);
	WRITE_ONCE(g->mm, NULL);
	put_pid(g->owner);
	g->owner = NULL;
	g->mapping = NULL;
	__free_pages(g->gone, GPUNVME_GONE_ORDER);
	g->gone = NULL;
	spin_lock(&g->dma_lock);
	notify = g->notify;
	g->notify = NULL;
	spin_unlock(&g->dma_lock);
	atomic_set(&g->opened, 0);
	mutex_unlock(&g->lock);
	if (notify)
		eventfd_ctx_put(notify);
	wake_up(&g->closed);
	gpunvme_put(g);
	return 0;
}

const struct file_operations gpunvme_file_operations = {
	.owner = THIS_MODULE,
	.open = gpunvme_open,
	.release = gpunvme_release,
	.mmap = gpunvme_mmap,
	.unlocked_ioctl = gpunvme_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
