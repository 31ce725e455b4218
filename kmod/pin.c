// SPDX-License-Identifier: GPL-2.0-only
/* Memory of the process, held where it is. */
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "gpunvme.h"

/* Without a copy from a bounce buffer: it could overwrite what the process has stored since. */
#define MAP_ATTRS (DMA_ATTR_NO_WARN | DMA_ATTR_SKIP_CPU_SYNC)
/* Pages at a time, between which a signal may end it. */
#define PAGES_AT_A_TIME 4096

/* Fills @pages, or pins nothing. */
static int pin_pages(unsigned long address, unsigned long count, struct page **pages)
{
	unsigned long done = 0;
	int pinned = 0;

	while (done < count) {
		if (fatal_signal_pending(current)) {
			pinned = -EINTR;
			break;
		}
		pinned = pin_user_pages_fast(address + (done << PAGE_SHIFT),
					     min(count - done, PAGES_AT_A_TIME + 0UL),
					     FOLL_WRITE | FOLL_LONGTERM, pages + done);
		if (pinned <= 0)
			break;
		done += pinned;
		cond_resched();
	}
	if (done == count)
		return 0;
	unpin_user_pages(pages, done);
	if (pinned == -ENOMEM || pinned == -EINTR || pinned == -EAGAIN)
		return pinned;
	return pinned == -ERESTARTSYS ? -EINTR : -EFAULT;
}

static void unpin(struct gpunvme_mem *mem)
{
	bool dirty = mem->direction != DMA_TO_DEVICE;
	struct scatterlist *sg;
	int i;

	for_each_sgtable_sg(&mem->pinned, sg, i)
		unpin_user_page_range_dirty_lock(sg_page(sg), PFN_UP(sg->length), dirty);
	sg_free_table(&mem->pinned);
}

/* Where the kernel lets DMA go to a buffer of its own, nothing would arrive in the pages. */
static bool bounced(struct device *dev, struct sg_table *sgt)
{
	struct scatterlist *sg;
	int i;

	if (gpunvme_iommu_mode(dev) == GPUNVME_IOMMU_TRANSLATED)
		return false;
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (sg_dma_address(sg) != phys_to_dma(dev, sg_phys(sg)))
			return true;
	return false;
}

static int map_pinned(struct gpunvme *g, struct gpunvme_mem *mem, struct gpunvme_segments *segments)
{
	struct device *dev = &g->pdev->dev;
	int error;

	/* The process shares the memory with the controller while it is mapped. */
	if (!dev_is_dma_coherent(dev))
		return -EOPNOTSUPP;
	error = dma_map_sgtable(dev, &mem->pinned, mem->direction, MAP_ATTRS);
	if (error)
		return error == -ENOMEM ? error : -EOPNOTSUPP;
	error = bounced(dev, &mem->pinned) ?
			-EOPNOTSUPP :
			gpunvme_list_segments(segments, &mem->pinned, mem->length);
	if (!error) {
		mem->segment_count = segments->count;
		error = gpunvme_add_memory(g, mem);
	}
	if (error)
		dma_unmap_sgtable(dev, &mem->pinned, mem->direction, MAP_ATTRS);
	else
		mem->sgt = &mem->pinned;
	return error;
}

/* Pages into a scatter list, which holds them from then on. */
static int gather(struct gpunvme_mem *mem, unsigned long address)
{
	unsigned long count = mem->length >> PAGE_SHIFT;
	struct page **pages =
		kvmalloc_array(count, sizeof(*pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	int error;

	if (!pages)
		return -ENOMEM;
	error = pin_pages(address, count, pages);
	if (!error) {
		error = sg_alloc_table_from_pages(&mem->pinned, pages, count, 0, mem->length,
						  GFP_KERNEL_ACCOUNT);
		if (error)
			unpin_user_pages(pages, count);
	}
	kvfree(pages);
	return error;
}

int gpunvme_pin_user(struct gpunvme *g, struct gpunvme_pin_user *args,
		     struct gpunvme_segments *segments)
{
	struct gpunvme_mem *mem;
	u64 end;
	int error;

	if (args->length == 0 || (args->address | args->length) & ~PAGE_MASK)
		return -EINVAL;
	if (args->length > GPUNVME_MAX_LENGTH ||
	    check_add_overflow(args->address, args->length, &end))
		return -EOVERFLOW;
	if (!access_ok(u64_to_user_ptr(args->address), args->length))
		return -EFAULT;
	mem = gpunvme_new_memory(g, GPUNVME_MEMORY_USER, args->length);
	if (!mem)
		return -ENOMEM;
	error = gpunvme_direction(args->flags, &mem->direction);
	if (error)
		goto put;
	error = gpunvme_charge(g, mem->length);
	if (error)
		goto put;
	error = gather(mem, args->address);
	if (error)
		goto uncharge;
	error = gpunvme_enter(g);
	if (error)
		goto unpin;
	error = map_pinned(g, mem, segments);
	args->handle = mem->handle;
	gpunvme_leave(g);
	if (error)
		goto unpin;
	return 0;

unpin:
	unpin(mem);
uncharge:
	gpunvme_uncharge(g, mem->length);
put:
	gpunvme_put_memory(mem);
	return error;
}

void gpunvme_unpin_user(struct gpunvme *g, struct gpunvme_mem *mem)
{
	dma_unmap_sgtable(&g->pdev->dev, &mem->pinned, mem->direction, MAP_ATTRS);
	unpin(mem);
	gpunvme_uncharge(g, mem->length);
}
