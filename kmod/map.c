// SPDX-License-Identifier: GPL-2.0-only
/* mmap(2) of registers and of coherent memory. */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/vmalloc.h>

#include "gpunvme.h"

/*
 * Who follows a mapping to physical memory looks at its page tables, or at vm_pgoff: both say the
 * same here.
 */
#define MAPPING_FLAGS (VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY)

static void change_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#ifdef GPUNVME_HAS_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * After a removal, mappings keep working, as for hardware that was pulled out: registers read all
 * ones, and memory has its last content. Without a page there, the process would get SIGBUS.
 */
static vm_fault_t insert(struct vm_fault *vmf, struct page *page)
{
	if (vmf->vma->vm_flags & VM_PFNMAP)
		return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(page));
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t bar_fault(struct vm_fault *vmf)
{
	struct gpunvme *g = vmf->vma->vm_file->private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;

	mutex_lock(&g->lock);
	/*
	 * Doorbells are rung without asking: what is stored there must not be found in the status.
	 */
	if (g->dead)
		result = insert(vmf, g->gone + (vmf->pgoff != g->bar_pfn));
	mutex_unlock(&g->lock);
	return result;
}

static const struct vm_operations_struct bar_operations = {
	.fault = bar_fault,
};

static int map_bar(struct gpunvme *g, struct vm_area_struct *vma)
{
	unsigned long first = vma->vm_pgoff;
	unsigned long pages = vma_pages(vma);
	int error;
	int i;

	if (first >= g->bar_pages || pages > g->bar_pages - first)
		return -EINVAL;
	/*
	 * Who can write the MSI-X Table can have interrupts delivered as any others, or written
	 * anywhere.
	 */
	for (i = 0; i < ARRAY_SIZE(g->hidden); i++)
		if (first < g->hidden[i].end && first + pages > g->hidden[i].first)
			return -EPERM;
	change_flags(vma, MAPPING_FLAGS, VM_MAYEXEC);
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	error = io_remap_pfn_range(vma, vma->vm_start, g->bar_pfn + first, pages << PAGE_SHIFT,
				   vma->vm_page_prot);
	if (error)
		return error;
	vma->vm_pgoff = g->bar_pfn + first;
	vma->vm_ops = &bar_operations;
	return 0;
}

static void coherent_opened(struct vm_area_struct *vma)
{
	struct gpunvme_mem *mem = vma->vm_private_data;

	atomic_inc(&mem->mapped);
	kref_get(&mem->ref);
}

static void coherent_closed(struct vm_area_struct *vma)
{
	struct gpunvme_mem *mem = vma->vm_private_data;

	atomic_dec(&mem->mapped);
	gpunvme_put_memory(mem);
}

static vm_fault_t coherent_fault(struct vm_fault *vmf)
{
	struct gpunvme_mem *mem = vmf->vma->vm_private_data;
	struct gpunvme *g = mem->owner;
	unsigned long index = vmf->pgoff - mem->first_pgoff;
	vm_fault_t result = VM_FAULT_SIGBUS;

	mutex_lock(&g->lock);
	if (mem->kept)
		result = insert(vmf, vmalloc_to_page(mem->kept + (index << PAGE_SHIFT)));
	else if (g->dead && mem->cpu)
		/* Its removal is under way: once more, when it is through. */
		result = VM_FAULT_NOPAGE;
	else if (mem->pages)
		/* Given up by madvise(2). */
		result = insert(vmf, mem->pages + index);
	else if (is_vmalloc_addr(mem->cpu))
		/* The same: pages that the IOMMU makes one piece of. */
		result = insert(vmf, vmalloc_to_page(mem->cpu + (index << PAGE_SHIFT)));
	mutex_unlock(&g->lock);
	return result;
}

static const struct vm_operations_struct coherent_operations = {
	.open = coherent_opened,
	.close = coherent_closed,
	.fault = coherent_fault,
};

static int insert_pages(struct vm_area_struct *vma, struct page *pages)
{
	unsigned long at;
	int error;

	for (at = vma->vm_start; at < vma->vm_end; at += PAGE_SIZE) {
		error = vm_insert_page(vma, at, pages++);
		if (error)
			return error;
	}
	return 0;
}

static int map_coherent(struct gpunvme *g, struct vm_area_struct *vma)
{
	unsigned long offset = vma->vm_pgoff;
	unsigned long handle = offset >> (GPUNVME_HANDLE_SHIFT - PAGE_SHIFT);
	struct gpunvme_mem *mem = xa_load(&g->memories, handle);
	int error;

	if (!mem || mem->kind != GPUNVME_MEMORY_COHERENT || mem->handle != handle)
		return -EINVAL;
	if (offset & (BIT(GPUNVME_HANDLE_SHIFT - PAGE_SHIFT) - 1) ||
	    vma_pages(vma) > mem->length >> PAGE_SHIFT)
		return -EINVAL;
	change_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, VM_MAYEXEC);
	/* The kernel counts from the beginning of that memory. */
	vma->vm_pgoff = 0;
	error = mem->pages ? insert_pages(vma, mem->pages) :
			     dma_mmap_coherent(&g->pdev->dev, vma, mem->cpu, mem->iova,
					       mem->length);
	/* As with registers, where it is in one piece. */
	vma->vm_pgoff = virt_addr_valid(mem->cpu) ? page_to_pfn(virt_to_page(mem->cpu)) : offset;
	if (error)
		return error;
	mem->first_pgoff = vma->vm_pgoff;
	vma->vm_private_data = mem;
	vma->vm_ops = &coherent_operations;
	coherent_opened(vma);
	return 0;
}

int gpunvme_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct gpunvme *g = file->private_data;
	int error;

	if (g->mm != current->mm || !(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EPERM;
	error = gpunvme_enter(g);
	if (error)
		return error;
	if (vma->vm_pgoff >> (GPUNVME_HANDLE_SHIFT - PAGE_SHIFT) == 0)
		error = map_bar(g, vma);
	else
		error = map_coherent(g, vma);
	gpunvme_leave(g);
	return error;
}
