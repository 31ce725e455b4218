// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests of gpunvme ask of a kernel: the frame behind an address, as a GPU's driver looks
 * it up, and a dma-buf whose memory moves, as a GPU's does. Only for guests that are thrown away.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "gpunvme_test.h"

#define MAX_PAGES 64

struct movable {
	unsigned int count;
	unsigned int mapped;
	unsigned int pinned;
	struct page *pages[MAX_PAGES];
};

static int pin(struct dma_buf_attachment *attachment)
{
	struct movable *memory = attachment->dmabuf->priv;

	memory->pinned++;
	return 0;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	struct movable *memory = attachment->dmabuf->priv;

	memory->pinned--;
}

static struct sg_table *map(struct dma_buf_attachment *attachment,
			    enum dma_data_direction direction)
{
	struct movable *memory = attachment->dmabuf->priv;
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	int error;

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	error = sg_alloc_table_from_pages(sgt, memory->pages, memory->count, 0,
					  memory->count * PAGE_SIZE, GFP_KERNEL);
	if (error)
		goto free;
	error = dma_map_sgtable(attachment->dev, sgt, direction, 0);
	if (error)
		goto free_table;
	memory->mapped++;
	return sgt;

free_table:
	sg_free_table(sgt);
free:
	kfree(sgt);
	return ERR_PTR(error);
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *sgt,
		  enum dma_data_direction direction)
{
	struct movable *memory = attachment->dmabuf->priv;

	dma_unmap_sgtable(attachment->dev, sgt, direction, 0);
	sg_free_table(sgt);
	kfree(sgt);
	memory->mapped--;
}

static void free_pages_of(struct movable *memory)
{
	unsigned int i;

	for (i = 0; i < memory->count; i++)
		if (memory->pages[i])
			__free_page(memory->pages[i]);
}

static int fill(struct movable *memory)
{
	unsigned int i;

	memset(memory->pages, 0, sizeof(memory->pages));
	for (i = 0; i < memory->count; i++) {
		memory->pages[i] = alloc_page(GFP_KERNEL);
		if (!memory->pages[i])
			return -ENOMEM;
		memset(page_address(memory->pages[i]), i + 1, PAGE_SIZE);
	}
	return 0;
}

static void release(struct dma_buf *dmabuf)
{
	free_pages_of(dmabuf->priv);
	kfree(dmabuf->priv);
}

static int map_for_user(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct movable *memory = dmabuf->priv;
	unsigned int i;
	int error = 0;

	for (i = 0; i < vma_pages(vma) && !error; i++)
		error = remap_pfn_range(vma, vma->vm_start + i * PAGE_SIZE,
					page_to_pfn(memory->pages[i]), PAGE_SIZE,
					vma->vm_page_prot);
	return error;
}

static const struct dma_buf_ops operations = {
	.pin = pin,
	.unpin = unpin,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.release = release,
	.mmap = map_for_user,
};

static long export(u32 __user *argument)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct movable *memory;
	struct dma_buf *dmabuf;
	u32 count;
	int fd;

	if (get_user(count, argument))
		return -EFAULT;
	if (count == 0 || count > MAX_PAGES)
		return -EINVAL;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	memory->count = count;
	if (fill(memory)) {
		free_pages_of(memory);
		kfree(memory);
		return -ENOMEM;
	}
	info.ops = &operations;
	info.size = count * PAGE_SIZE;
	info.flags = O_RDWR;
	info.priv = memory;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		free_pages_of(memory);
		kfree(memory);
		return PTR_ERR(dmabuf);
	}
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0) {
		dma_buf_put(dmabuf);
		return fd;
	}
	return put_user(fd, argument);
}

static long move(u32 __user *argument)
{
	struct movable *memory;
	struct dma_buf *dmabuf;
	u32 value;
	long error;

	if (get_user(value, argument))
		return -EFAULT;
	dmabuf = dma_buf_get(value);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	memory = dmabuf->priv;
	dma_resv_lock(dmabuf->resv, NULL);
	error = dmabuf->ops != &operations ? -EINVAL : memory->pinned ? -EBUSY : 0;
	if (!error) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
		dma_buf_invalidate_mappings(dmabuf);
#else
		dma_buf_move_notify(dmabuf);
#endif
		value = memory->mapped;
		if (value == 0) {
			free_pages_of(memory);
			error = fill(memory);
		}
	}
	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
	return error ? error : put_user(value, argument);
}

static long lookup(u64 __user *argument)
{
	struct vm_area_struct *vma;
	unsigned long pfn = 0;
	u64 address;
	long error = -EFAULT;

	if (get_user(address, argument))
		return -EFAULT;
	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, address);
	if (vma && vma->vm_start <= address) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
		struct follow_pfnmap_args args = { .vma = vma, .address = address };

		error = follow_pfnmap_start(&args);
		if (!error) {
			pfn = args.pfn;
			follow_pfnmap_end(&args);
		}
#else
		error = follow_pfn(vma, address, &pfn);
#endif
	}
	mmap_read_unlock(current->mm);
	return error ? error : put_user((u64)pfn, argument);
}

static long pull(u64 __user *argument)
{
	struct pci_dev *pdev;
	u64 value;

	if (get_user(value, argument))
		return -EFAULT;
	pdev = pci_get_domain_bus_and_slot(value >> 17, value >> 9 & 0xff, value >> 1 & 0xff);
	if (!pdev)
		return -ENODEV;
	/* QEMU has no removal without the kernel's consent. */
	pdev->error_state = value & 1 ? pci_channel_io_perm_failure : pci_channel_io_normal;
	pci_dev_put(pdev);
	return 0;
}

static long control(struct file *file, unsigned int request, unsigned long argument)
{
	switch (request) {
	case TEST_LOOKUP:
		return lookup((u64 __user *)argument);
	case TEST_EXPORT:
		return export((u32 __user *)argument);
	case TEST_MOVE:
		return move((u32 __user *)argument);
	case TEST_PULL:
		return pull((u64 __user *)argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations file_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gpunvme_test",
	.fops = &file_operations,
};
module_misc_device(device);

MODULE_DESCRIPTION("What the tests of gpunvme ask of a kernel");
MODULE_LICENSE("GPL");
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif
