// SPDX-License-Identifier: GPL-2.0-only
/* Memory of the kernel for queues. */
#include <linux/dma-mapping.h>
#include <linux/vmalloc.h>

#include "gpunvme.h"

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
	/*
	 * What cannot be had is an errno, and neither a line in the log nor the end of another
	 * process.
	 */
	mem->cpu = dma_alloc_attrs(&g->pdev->dev, mem->length, &mem->iova,
				   GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL,
				   DMA_ATTR_NO_WARN);
	if (!mem->cpu) {
		error = -ENOMEM;
		goto uncharge;
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
	dma_free_coherent(&g->pdev->dev, mem->length, mem->cpu, mem->iova);
uncharge:
	gpunvme_uncharge(g, mem->length);
put:
	gpunvme_put_memory(mem);
	return error;
}

void gpunvme_free_coherent(struct gpunvme *g, struct gpunvme_mem *mem)
{
	/* The controller went first: whoever looks at a queue finds it as it was. */
	if (atomic_read(&mem->mapped)) {
		mem->kept = vmalloc(mem->length);
		if (mem->kept)
			memcpy(mem->kept, mem->cpu, mem->length);
	}
	dma_free_coherent(&g->pdev->dev, mem->length, mem->cpu, mem->iova);
	mem->cpu = NULL;
	gpunvme_uncharge(g, mem->length);
}
