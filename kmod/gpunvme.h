/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the module share.
 *
 * Locks, outermost first: the kernel's device lock, mmap_lock, gpunvme.lock, a dma-buf's
 * reservation lock, gpunvme.dma_lock. Nothing touches user memory under gpunvme.lock, since that
 * would wait for mmap_lock; and nothing waits for the device lock under it, but tries.
 */
#ifndef GPUNVME_H
#define GPUNVME_H

#include <linux/eventfd.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "gpunvme_ioctl.h"
#include "probes.h"

/*
 * Coherent memory is mapped at its handle times 4 GiB; BAR0, as if its handle were 0, is smaller
 * than that.
 */
#define GPUNVME_HANDLE_SHIFT 32
/* Two pages: see `gone`. */
#define GPUNVME_GONE_ORDER 1
/* More vectors than these are not asked for: few machines have them for every device. */
#define GPUNVME_MAX_VECTORS 128

/* Pages of BAR0 that hold an MSI-X structure: [first, end). */
struct gpunvme_pages {
	unsigned long first;
	unsigned long end;
};

/* A controller, from probe to the last close, which may come after its removal. */
struct gpunvme {
	struct kref ref;
	struct miscdevice misc;
	char name[20];
	int index;
	atomic_t opened;

	struct mutex lock;
	/* Unbound or gone: pdev and registers are not to be touched any more. */
	bool dead;
	struct pci_dev *pdev;
	/* The first page of BAR0. */
	void __iomem *registers;
	/* Its configuration as it was at probe; NULL where there was no memory for it. */
	struct pci_saved_state *saved;
	unsigned long bar_pfn;
	unsigned long bar_pages;
	struct gpunvme_pages hidden[2];

	/* Of the open file; NULL while it is closed. */
	struct mm_struct *mm;
	/* The process that opened it. */
	struct pid *owner;
	/* Woken when the file is closed. */
	wait_queue_head_t closed;
	/* The controller is stopped, and all memory is freed. */
	bool ended;
	/*
	 * What registers are once the controller is gone: ones, a page for the first, and one for
	 * all others.
	 */
	struct page *gone;
	struct address_space *mapping;
	struct xarray memories;
	unsigned int memory_count;
	struct eventfd_ctx **irqs;
	unsigned int irq_count;
	/* The task in GPUNVME_RESET: the kernel's callbacks for that reset cause no event. */
	struct task_struct *resetter;

	/*
	 * Keeps bus mastering and what decides over it together; taken under a dma-buf's
	 * reservation lock.
	 */
	spinlock_t dma_lock;
	unsigned int revoked_count;
	bool resetting;
	/* PCIe error recovery has failed; cleared by a reset. */
	bool failed;
	u32 events;
	struct eventfd_ctx *notify;
};

/* Memory that the controller can reach: what a handle is of. */
struct gpunvme_mem {
	/* The handle, and each mapping of coherent memory. */
	struct kref ref;
	u32 kind;
	u32 handle;
	u32 segment_count;
	u64 length;
	bool revoked;
	enum dma_data_direction direction;

	/* GPUNVME_MEMORY_COHERENT */
	void *cpu;
	/* The first of its pages; NULL where dma_alloc_attrs() had to allocate it. */
	struct page *pages;
	dma_addr_t iova;
	atomic_t mapped;
	/*
	 * Its page offset in the file, and what is left of it where the controller went while it
	 * was mapped.
	 */
	unsigned long first_pgoff;
	void *kept;
	/*
	 * GPUNVME_MEMORY_USER: its own; GPUNVME_MEMORY_DMABUF: the exporter's. NULL where nothing
	 * is mapped.
	 */
	struct sg_table *sgt;
	struct sg_table pinned;
	struct gpunvme *owner;
	struct dma_buf_attachment *attachment;
	bool dynamic;
};

/* Segments on their way to user space. */
struct gpunvme_segments {
	u64 __user *user;
	u32 capacity;
	u32 count;
	struct gpunvme_segment *array;
};

/* file.c */
extern const struct file_operations gpunvme_file_operations;
int gpunvme_enter(struct gpunvme *g);
void gpunvme_leave(struct gpunvme *g);
void gpunvme_put(struct gpunvme *g);
void gpunvme_end_use(struct gpunvme *g);

/* ioctl.c */
long gpunvme_ioctl(struct file *file, unsigned int request, unsigned long argument);

/* info.c */
int gpunvme_get_info(struct gpunvme *g, struct gpunvme_info *info);
int gpunvme_read_config(struct gpunvme *g, struct gpunvme_read_config *args);
u32 gpunvme_iommu_mode(struct device *dev);
void gpunvme_find_hidden(struct gpunvme *g);

/* map.c */
int gpunvme_mmap(struct file *file, struct vm_area_struct *vma);

/* memory.c */
struct gpunvme_mem *gpunvme_new_memory(struct gpunvme *g, u32 kind, u64 length);
int gpunvme_add_memory(struct gpunvme *g, struct gpunvme_mem *mem);
void gpunvme_put_memory(struct gpunvme_mem *mem);
int gpunvme_get_memory(struct gpunvme *g, struct gpunvme_memory *args);
int gpunvme_release_memory(struct gpunvme *g, u32 handle);
void gpunvme_release_all(struct gpunvme *g);
int gpunvme_charge(struct gpunvme *g, u64 length);
void gpunvme_uncharge(struct gpunvme *g, u64 length);

/* segments.c */
int gpunvme_list_segments(struct gpunvme_segments *segments, struct sg_table *sgt, u64 length);

/* coherent.c */
int gpunvme_alloc_coherent(struct gpunvme *g, struct gpunvme_alloc_coherent *args);
void gpunvme_free_coherent(struct gpunvme *g, struct gpunvme_mem *mem);

/* pin.c */
int gpunvme_pin_user(struct gpunvme *g, struct gpunvme_pin_user *args,
		     struct gpunvme_segments *segments);
void gpunvme_unpin_user(struct gpunvme *g, struct gpunvme_mem *mem);

/* dmabuf.c */
int gpunvme_import_dmabuf(struct gpunvme *g, struct gpunvme_import_dmabuf *args,
			  struct gpunvme_segments *segments);
void gpunvme_end_import(struct gpunvme *g, struct gpunvme_mem *mem);
int gpunvme_direction(u32 flags, enum dma_data_direction *direction);

/* irq.c */
unsigned int gpunvme_irq_vectors(struct gpunvme *g);
int gpunvme_set_irq(struct gpunvme *g, struct gpunvme_set_irq *args);
int gpunvme_set_notify(struct gpunvme *g, struct gpunvme_set_notify *args);
void gpunvme_free_irqs(struct gpunvme *g);
void gpunvme_event(struct gpunvme *g, u32 event);
void gpunvme_signal(struct eventfd_ctx *ctx);

/* controller.c */
void gpunvme_stop_dma(struct gpunvme *g);
void gpunvme_halt(struct gpunvme *g);
bool gpunvme_quiesce(struct gpunvme *g);
void gpunvme_set_resetting(struct gpunvme *g, bool resetting);
bool gpunvme_answers(struct gpunvme *g);
int gpunvme_set_bus_master(struct gpunvme *g, struct gpunvme_set_bus_master *args);

/* reset.c */
extern const struct pci_error_handlers gpunvme_error_handlers;
u32 gpunvme_reset_methods(struct gpunvme *g);
int gpunvme_reset(struct gpunvme *g, struct gpunvme_reset *args);

/* power.c */
extern const struct dev_pm_ops gpunvme_power;

#endif
