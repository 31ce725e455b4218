import { findFunctions, hashOfCode } from './c-source.js'
import type { PfnShape } from './driver-state.js'
import type { Edit } from './edits.js'
import type { KnownShape } from './pfn-shapes.js'

/** Replacements for kernel functions that only GPL modules may call. */
export type FixForm = 'walk' | 'guarded'

const OURS = 'gpunvme_follow_pfn'

const SIGNATURE = `static inline int ${OURS}(struct vm_area_struct *vma,
                                     unsigned long address,
                                     unsigned long *pfn)`

/**
 * Compared with follow_pfnmap_start on Linux 7.2 in QEMU, November 2026: the same page, or the same error, for every
 * memory BAR that sysfs maps, shared and private, and for other memory. No mapping there had leaves of 2 MiB or more.
 */
const WALK = `/*
 * Inserted by gpunvme; 'gpunvme driver revert pfn-lookup' removes it.
 *
 * Finds the page behind a mapping of device registers in the page tables of
 * the process. The caller holds the lock of its mappings, so the tables stay.
 * Fails for an address that is not mapped yet: touch it first.
 * Uses only inline functions of the kernel, none of them GPL-only.
 * Kernels before 5.6 lack some of them, but have follow_pfn.
 */
#include <linux/version.h>
MODULE_INFO(gpunvme, "pfn-walk/1");

${SIGNATURE}
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 6, 0)
    return -EINVAL;
#else
    pgd_t *pgd;
    p4d_t *p4d;
    pud_t *pudp, pud;
    pmd_t *pmdp, pmd;
    pte_t pte;

    if (!(vma->vm_flags & (VM_IO | VM_PFNMAP)))
        return -EINVAL;

    pgd = pgd_offset(vma->vm_mm, address);
    if (pgd_none(*pgd) || pgd_bad(*pgd))
        return -EINVAL;
    p4d = p4d_offset(pgd, address);
    if (p4d_none(*p4d) || p4d_bad(*p4d))
        return -EINVAL;

    pudp = pud_offset(p4d, address);
    pud = READ_ONCE(*pudp);
    if (!pud_present(pud))
        return -EINVAL;
    if (pud_leaf(pud))
    {
        *pfn = pud_pfn(pud) + ((address & ~PUD_MASK) >> PAGE_SHIFT);
        return 0;
    }
    if (pud_bad(pud))
        return -EINVAL;

    pmdp = pmd_offset(pudp, address);
    pmd = READ_ONCE(*pmdp);
    if (!pmd_present(pmd))
        return -EINVAL;
    if (pmd_leaf(pmd))
    {
        *pfn = pmd_pfn(pmd) + ((address & ~PMD_MASK) >> PAGE_SHIFT);
        return 0;
    }
    if (pmd_bad(pmd))
        return -EINVAL;

    pte = READ_ONCE(*pte_offset_kernel(pmdp, address));
    if (!pte_present(pte))
        return -EINVAL;
    *pfn = pte_pfn(pte);
    return 0;
#endif
}

`

const GUARDED = `/*
 * Inserted by gpunvme; 'gpunvme driver revert pfn-lookup' removes it.
 *
 * Finds the page behind a mapping of device registers in vm_pgoff, where most
 * drivers store it. Others store something else there (vfio-pci since 6.10),
 * so it is accepted only inside a memory BAR of a PCI function. Unassigned
 * BARs are skipped: they start at 0, where memory is.
 */
MODULE_INFO(gpunvme, "pfn-guarded/1");

${SIGNATURE}
{
    unsigned long found = vma->vm_pgoff + ((address - vma->vm_start) >> PAGE_SHIFT);
    struct pci_dev *dev = NULL;
    int bar;

    if (!(vma->vm_flags & (VM_IO | VM_PFNMAP)) || found == 0)
        return -EINVAL;

    while ((dev = pci_get_device(PCI_ANY_ID, PCI_ANY_ID, dev)) != NULL)
    {
        for (bar = 0; bar < 6; bar++)
        {
            if (!(pci_resource_flags(dev, bar) & IORESOURCE_MEM) ||
                (pci_resource_flags(dev, bar) & IORESOURCE_UNSET) ||
                pci_resource_start(dev, bar) == 0 ||
                pci_resource_len(dev, bar) == 0 ||
                found < (pci_resource_start(dev, bar) >> PAGE_SHIFT) ||
                found > (pci_resource_end(dev, bar) >> PAGE_SHIFT))
                continue;
            pci_dev_put(dev);
            *pfn = found;
            return 0;
        }
    }
    return -EINVAL;
}

`

const FORMS = {
  walk: { mark: 'pfn-walk/1', text: WALK, shape: 'page-table-walk' },
  guarded: { mark: 'pfn-guarded/1', text: GUARDED, shape: 'guarded-vm_pgoff' },
} as const satisfies Record<FixForm, { mark: string; text: string; shape: PfnShape }>

/** Returns the mark that modinfo shows for a changed module, as 'gpunvme'. */
export function markOf(form: FixForm): string {
  return FORMS[form].mark
}

/** Returns the shape of a source that has our function unchanged; undefined for any other. */
export function formOfOurs(source: string): PfnShape | undefined {
  const hash = hashOfOurs(source)
  return hash === undefined ? undefined : Object.values(FORMS).find(({ text }) => hashOfOurs(text) === hash)?.shape
}

/**
 * Replaces the only `return -1;` of a source by our lookup.
 * @param shape shape of `source`: a 'follow_pfn-or-fail'.
 * @throws RangeError if the source has another shape; check it with shapeOf first.
 */
export function pfnFixEdits(source: string, shape: KnownShape, form: FixForm): Edit[] {
  const failing = shape.functions.nv_follow_flavors === null ? 'nv_follow_pfn' : 'nv_follow_flavors'
  const [place] = findFunctions(source, failing)
  const fails = place === undefined ? [] : [...source.slice(place.bodyStart, place.end).matchAll(/return -1;/g)]
  if (shape.shape !== 'follow_pfn-or-fail' || place === undefined || fails.length !== 1)
    throw new RangeError(`source: expected a ${failing} that fails in one place, got ${fails.length}`)
  return [
    { at: place.start, removed: 0, text: FORMS[form].text },
    {
      at: place.bodyStart + fails[0]!.index,
      removed: 'return -1;'.length,
      text: `return ${OURS}(vma, address, pfn);`,
    },
  ]
}

function hashOfOurs(source: string): string | undefined {
  const [place, another] = findFunctions(source, OURS)
  return place === undefined || another !== undefined ? undefined : hashOfCode(source.slice(place.start, place.end))
}
