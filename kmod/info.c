// SPDX-License-Identifier: GPL-2.0-only
/* What can be said of the controller without asking it anything. */
#include <linux/dma-mapping.h>
#include <linux/iommu.h>

#include "gpunvme.h"

u32 gpunvme_iommu_mode(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	if (!domain)
		return GPUNVME_IOMMU_NONE;
	return domain->type == IOMMU_DOMAIN_IDENTITY ? GPUNVME_IOMMU_IDENTITY :
						       GPUNVME_IOMMU_TRANSLATED;
}

/* The MSI-X Table or PBA, by the dword that has its BAR and offset: PCIe Base 5.0 §7.7.2. */
static struct gpunvme_pages msix_pages(struct pci_dev *pdev, int reg, unsigned int bytes)
{
	struct gpunvme_pages pages = {};
	u32 where;

	pci_read_config_dword(pdev, pdev->msix_cap + reg, &where);
	/* The bits of the BAR are where those of the PBA's are. */
	if ((where & PCI_MSIX_TABLE_BIR) != 0)
		return pages;
	pages.first = (where & PCI_MSIX_TABLE_OFFSET) >> PAGE_SHIFT;
	pages.end = DIV_ROUND_UP((u64)(where & PCI_MSIX_TABLE_OFFSET) + bytes, PAGE_SIZE);
	return pages;
}

void gpunvme_find_hidden(struct gpunvme *g)
{
	int vectors = pci_msix_vec_count(g->pdev);

	if (vectors <= 0)
		return;
	g->hidden[0] = msix_pages(g->pdev, PCI_MSIX_TABLE, vectors * PCI_MSIX_ENTRY_SIZE);
	/* A bit for each vector, by 64. */
	g->hidden[1] = msix_pages(g->pdev, PCI_MSIX_PBA, DIV_ROUND_UP(vectors, 64) * 8);
}

static u64 mappable_length(struct gpunvme *g)
{
	unsigned long pages = g->bar_pages;
	int i;

	for (i = 0; i < ARRAY_SIZE(g->hidden); i++)
		if (g->hidden[i].end)
			pages = min(pages, g->hidden[i].first);
	return (u64)pages << PAGE_SHIFT;
}

static void get_link(struct pci_dev *pdev, struct gpunvme_info *info)
{
	u32 capabilities;
	u16 status;

	if (!pci_is_pcie(pdev))
		return;
	pcie_capability_read_word(pdev, PCI_EXP_LNKSTA, &status);
	pcie_capability_read_dword(pdev, PCI_EXP_LNKCAP, &capabilities);
	info->link_speed = status & PCI_EXP_LNKSTA_CLS;
	info->link_width = (status & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT;
	info->max_link_speed = capabilities & PCI_EXP_LNKCAP_SLS;
	info->max_link_width = (capabilities & PCI_EXP_LNKCAP_MLW) >> 4;
	info->max_payload_size = pcie_get_mps(pdev);
	info->max_read_request_size = pcie_get_readrq(pdev);
}

int gpunvme_get_info(struct gpunvme *g, struct gpunvme_info *info)
{
	struct pci_dev *pdev = g->pdev;
	u32 where;
	u16 command;

	*info = (struct gpunvme_info){
		.size = info->size,
		.abi_version = GPUNVME_ABI_VERSION,
		.events = READ_ONCE(g->events),
		.pci_domain = pci_domain_nr(pdev->bus),
		.pci_bus = pdev->bus->number,
		.pci_device = PCI_SLOT(pdev->devfn),
		.pci_function = PCI_FUNC(pdev->devfn),
		.pci_revision = pdev->revision,
		.vendor_id = pdev->vendor,
		.device_id = pdev->device,
		.subsystem_vendor_id = pdev->subsystem_vendor,
		.subsystem_device_id = pdev->subsystem_device,
		.bar0_length = (u64)g->bar_pages << PAGE_SHIFT,
		.bar0_mappable_length = mappable_length(g),
		.irq_vectors = gpunvme_irq_vectors(g),
		.iommu_mode = gpunvme_iommu_mode(&pdev->dev),
		.dma_address_bits = fls64(dma_get_mask(&pdev->dev)),
		.max_segment_length = dma_get_max_seg_size(&pdev->dev),
		.page_size = PAGE_SIZE,
		.numa_node = dev_to_node(&pdev->dev),
		.power_state = (__force u32)pdev->current_state,
		.reset_methods = gpunvme_reset_methods(g),
	};
	get_link(pdev, info);
	if (pdev->msix_cap) {
		pci_read_config_dword(pdev, pdev->msix_cap + PCI_MSIX_TABLE, &where);
		info->msix_table_bar = where & PCI_MSIX_TABLE_BIR;
		info->msix_table_offset = where & PCI_MSIX_TABLE_OFFSET;
	}
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	info->bus_master = command & PCI_COMMAND_MASTER ? 1 : 0;
	return 0;
}

int gpunvme_read_config(struct gpunvme *g, struct gpunvme_read_config *args)
{
	u32 offset = args->offset;
	u32 width = args->width;
	u8 byte = 0;
	u16 word = 0;
	int status;

	if ((width != 1 && width != 2 && width != 4) || offset & (width - 1) ||
	    offset >= g->pdev->cfg_size)
		return -EINVAL;
	switch (width) {
	case 1:
		status = pci_read_config_byte(g->pdev, offset, &byte);
		args->value = byte;
		break;
	case 2:
		status = pci_read_config_word(g->pdev, offset, &word);
		args->value = word;
		break;
	default:
		status = pci_read_config_dword(g->pdev, offset, &args->value);
	}
	return status ? -EIO : 0;
}
