// SPDX-License-Identifier: GPL-2.0-only
/* Memory of the kernel for queues. */
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/vmalloc.h>

#include "gpunvme.h"

/* An allocation that fails returns an errno: no line in the log, and no process is killed. */
#define QUIETLY (GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN)

static void free_pages_of(struct gpunvme_mem *mem)
{
	unsigned long count = mem->length >> PAGE_SHIFT;

	/* A page that a GPU's driver has pinned stays until it is unpinned. */
	while (count-- > 0)
		put_page(mem->pages + count);
	mem->pages = NULL;
}

/*
 * Pages of their own, which can be inserted into a mapping. A GPU's driver pins those as it pins any
 * memory of a process. It refuses what dma_mmap_coherent() maps where DMA addresses are physical:
 * page frames without pages (VM_PFNMAP).
 */
static int alloc_pages_for(struct gpunvme *g, struct gpunvme_mem *mem)
{
	struct device *dev = &g->pdev->dev;
	bool translated = gpunvme_iommu_mode(dev) == GPUNVME_IOMMU_TRANSLATED;
	unsigned int order = get_order(mem->length);
	unsigned long i;

	/* Processor and controller would not see alike what is in the processor's caches. */
	if (!dev_is_dma_coherent(dev))
		return -EOPNOTSUPP;
	/* With an IOMMU, single pages do as well: none are moved to make one piece. */
	mem->pages = alloc_pages_node(dev_to_node(dev),
				      QUIETLY | (translated ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL),
				      order);
	if (!mem->pages)
		return -ENOMEM;
	split_page(mem->pages, order);
	/* Only what RLIMIT_MEMLOCK is charged with is held. */
	for (i = mem->length >> PAGE_SHIFT; i < 1ul << order; i++)
		__free_page(mem->pages + i);
	mem->iova = dma_map_page_attrs(dev, mem->pages, 0, mem->length, DMA_BIDIRECTIONAL,
				       DMA_ATTR_NO_WARN);
	if (dma_mapping_error(dev, mem->iova))
		goto free;
	/* A bounce buffer: what the controller writes would not arrive in these pages. */
	if (!translated && mem->iova != phys_to_dma(dev, page_to_phys(mem->pages)))
		goto unmap;
	mem->cpu = page_address(mem->pages);
	return 0;

unmap:
	dma_unmap_page(dev, mem->iova, mem->length, DMA_BIDIRECTIONAL);
free:
	free_pages_of(mem);
	return -EOPNOTSUPP;
}

static void free_queue(struct gpunvme *g, struct gpunvme_mem *mem)
{
	struct device *dev = &g->pdev->dev;

	if (mem->pages) {
		dma_unmap_page(dev, mem->iova, mem->length, DMA_BIDIRECTIONAL);
		free_pages_of(mem);
	} else {
		dma_free_coherent(dev, mem->length, mem->cpu, mem->iova);
	}
	mem->cpu = NULL;
	gpunvme_uncharge(g, mem->length);
}

int gpunvme_alloc_coherent(struct gpunvme *g, struct gpunvme_alloc_coherent *args)
{
	struct gpunvme_mem *mem;
	int error;

	if (args->length == 0)
		return -EINVAL;
	if (args->length > GPUNVME_MAX_COHERENT_LENGTH)
		return -EOVERFLOW;
	mem = gpunvme_new_memory(g, GPUNVME_MEMORY_COHERENT, PAGE_ALIGN(args->length));
	if (!mem)
		return -ENOMEM;
	mem->segment_count = 1;
	error = gpunvme_charge(g, mem->length);
	if (error)
		goto put;
	if (alloc_pages_for(g, mem)) {
		mem->cpu = dma_alloc_attrs(&g->pdev->dev, mem->length, &mem->iova,
					   QUIETLY | __GFP_RETRY_MAYFAIL, DMA_ATTR_NO_WARN);
		if (!mem->cpu) {
			gpunvme_uncharge(g, mem->length);
			error = -ENOMEM;
			goto put;
		}
	}
	error = gpunvme_add_memory(g, mem);
	if (error)
		goto free;
	args->length = mem->length;
	args->iova = mem->iova;
	args->mmap_offset = (u64)mem->handle << GPUNVME_HANDLE_SHIFT;
	args->handle = mem->handle;
	return 0;

free:
	free_queue(g, mem);
put:
	gpunvme_put_memory(mem);
	return error;
}

void gpunvme_free_coherent(struct gpunvme *g, struct gpunvme_mem *mem)
{
	/* After the controller's removal, a process that still maps its queues finds their content. */
	if (atomic_read(&mem->mapped)) {
		mem->kept = vmalloc(mem->length);
		if (mem->kept)
			memcpy(mem->kept, mem->cpu, mem->length);
	}
	free_queue(g, mem);
}
