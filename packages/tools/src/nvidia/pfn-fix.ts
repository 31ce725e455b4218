import { findFunctions, hashOfCode } from './c-source.js'
import type { PfnShape } from './driver-state.js'
import type { Edit } from './edits.js'
import type { KnownShape } from './pfn-shapes.js'

/** How to find the page behind a mapping where the kernel's own functions are for GPL modules alone. */
export type FixForm = 'walk' | 'guarded'

const OURS = 'gpunvme_follow_pfn'

const SIGNATURE = `static inline int ${OURS}(struct vm_area_struct *vma,
                                     unsigned long address,
                                     unsigned long *pfn)`

/**
 * Compared with follow_pfnmap_start on Linux 7.2 in QEMU, November 2026: the same page, or the same refusal, for every
 * memory BAR that sysfs maps, shared and private, and for memory that is none. No mapping there had
 * leaves of 2 MiB or more.
 */
const WALK = `/*
 * Put here by gpunvme; 'gpunvme driver revert pfn-lookup' takes it out again.
 *
 * The page behind a mapping of a device's registers, from the page tables of
 * the process. The caller holds the lock of its mappings, so the tables stay.
 * What is not mapped yet is refused: whoever maps it has to touch it first.
 * Only inline functions of the kernel are used, none that is for GPL alone.
 * Kernels before 5.6 do not have all of them, and have follow_pfn instead.
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
 * Put here by gpunvme; 'gpunvme driver revert pfn-lookup' takes it out again.
 *
 * The page behind a mapping of a device's registers, as its driver noted it in
 * vm_pgoff. Drivers may note other things there (vfio-pci does from 6.10 on),
 * so it counts only where it lies in a memory BAR of some PCI function that
 * has a place: those that are not assigned begin at 0, where memory is.
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

/** What modinfo shows of a module with it, as 'gpunvme'. */
export function markOf(form: FixForm): string {
  return FORMS[form].mark
}

/** The shape of a source that has our function in it, as we put it there; undefined of every other source. */
export function formOfOurs(source: string): PfnShape | undefined {
  const hash = hashOfOurs(source)
  return hash === undefined ? undefined : Object.values(FORMS).find(({ text }) => hashOfOurs(text) === hash)?.shape
}

/**
 * Puts our look-up in place of the one `return -1;` of a source.
 * @param shape what `source` was found to be: a 'follow_pfn-or-fail'.
 * @throws RangeError where the source is not of that shape; shapeOf says beforehand.
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
