import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findFunctions, hashOfCode } from '../../src/nvidia/c-source.js'
import { P2P_ANCHORS, type P2pAnchors } from '../../src/nvidia/p2p-anchors.js'
import { edited } from '../../src/nvidia/edits.js'
import { pfnFixEdits, type FixForm } from '../../src/nvidia/pfn-fix.js'
import { shapeOf, type KnownShape, type PfnFunction } from '../../src/nvidia/pfn-shapes.js'
import type { KnownSources } from '../../src/nvidia/plan-change.js'

/** Sources with the names and structure of NVIDIA's, but without their text. */
const LOOKUP_HEAD = `#include <linux/module.h>
#include <linux/mm.h>
#include <linux/pci.h>

`

const FLAVORS = `static inline int nv_follow_flavors(struct vm_area_struct *vma, unsigned long address, unsigned long *pfn)
{
    (void)address; /* of no use here */
    return -1;
}

`

const THROUGH_FLAVORS = `static inline int nv_follow_pfn(struct vm_area_struct *vma, unsigned long address, unsigned long *pfn)
{
#ifdef SYNTHETIC_FOLLOW_PFN
    return follow_pfn(vma, address, pfn);
#else
    return nv_follow_flavors(vma, address, pfn);
#endif
}

`

const OR_FAIL = THROUGH_FLAVORS.replace('nv_follow_flavors(vma, address, pfn)', '-1')

const CALLERS = `static int get_io_ptes(struct vm_area_struct *vma, unsigned long start, unsigned long *pfn)
{
    return nv_follow_pfn(vma, start, pfn);
}

int os_lookup_user_io_memory(struct vm_area_struct *vma, unsigned long start, unsigned long *pfn);
int os_lookup_user_io_memory(struct vm_area_struct *vma, unsigned long start, unsigned long *pfn)
{
    return get_io_ptes(vma, start, pfn);
}
EXPORT_SYMBOL(os_lookup_user_io_memory);
`

export const SYNTHETIC_LOOKUPS = {
  'through-flavors': `${LOOKUP_HEAD}${FLAVORS}${THROUGH_FLAVORS}${CALLERS}`,
  'or-fail': `${LOOKUP_HEAD}${OR_FAIL}${CALLERS}`,
} as const

export type SyntheticLookup = keyof typeof SYNTHETIC_LOOKUPS

function shapeOfSynthetic(source: string): KnownShape {
  const hash = (name: PfnFunction) => {
    const [place] = findFunctions(source, name)
    return place === undefined ? null : [hashOfCode(source.slice(place.start, place.end))]
  }
  return {
    shape: 'follow_pfn-or-fail',
    flavours: ['proprietary'],
    functions: {
      nv_follow_flavors: hash('nv_follow_flavors'),
      nv_follow_pfn: hash('nv_follow_pfn'),
      get_io_ptes: hash('get_io_ptes'),
      os_lookup_user_io_memory: hash('os_lookup_user_io_memory'),
    },
    versions: 'none',
    source: 'this file',
  }
}

/** Writes a source tree as in distributions, by default of the proprietary flavour. */
export function writeLookupTree(into: string, lookup: SyntheticLookup, license = 'NVIDIA'): void {
  put(into, 'nvidia/nv.c', `MODULE_LICENSE("${license}");\n`)
  put(into, 'nvidia/nv-kernel.o_binary', 'object code')
  put(into, 'nvidia/os-mlock.c', SYNTHETIC_LOOKUPS[lookup])
}

/** Writes a source tree as in NVIDIA's releases, with the parts that concern BAR1 peer-to-peer. */
export function writeFullSource(into: string, version = '590.48.01'): void {
  put(into, 'version.mk', `NVIDIA_VERSION = ${version}\n`)
  put(into, 'kernel-open/nvidia/nv.c', '#include "nv.h"\n\nMODULE_LICENSE("Dual MIT/GPL");\nMODULE_INFO(a, "b");\n')
  put(into, 'kernel-open/nvidia/os-mlock.c', SYNTHETIC_LOOKUPS['or-fail'])
  for (const file of new Set(P2P_ANCHORS.dispatch.map((each) => each.file))) {
    const entries = P2P_ANCHORS.dispatch.filter((each) => each.file === file)
    const text = entries.map(
      ({ entry, stubs }) =>
        `    if (hopper)\n        self->__${entry}__ = &${entry}_GH100;\n    else\n        self->__${entry}__ = &${entry}_${stubs[0]};\n`,
    )
    put(into, file, `void fill(void)\n{\n${text.join('\n')}}\n`)
  }
  put(into, P2P_ANCHORS.functions[0]!.file, P2P_ANCHORS.functions.map(({ name }) => connecting(name)).join('\n'))
}

function connecting(name: string): string {
  return `int\n${name}\n(\n    int attributes\n)\n{\n    return attributes;\n}\n`
}

/** Catalogue entries of the sources above. */
export const SYNTHETIC_SOURCES: KnownSources = {
  shapes: Object.values(SYNTHETIC_LOOKUPS).map(shapeOfSynthetic),
  p2p: {
    ...P2P_ANCHORS,
    functions: P2P_ANCHORS.functions.map((each) => ({ ...each, sha256: hashOfCode(connecting(each.name)) })),
  } satisfies P2pAnchors,
}

/** Writes a file in `into`, and creates its folders. */
export function put(into: string, path: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(join(into, path)), { recursive: true })
  writeFileSync(join(into, path), contents)
}

/** Returns the source of a lookup after `gpunvme driver apply pfn-lookup`. */
export function fixedLookup(lookup: SyntheticLookup, form: FixForm): string {
  const source = SYNTHETIC_LOOKUPS[lookup]
  const shape = shapeOf(source, 'proprietary', SYNTHETIC_SOURCES.shapes)
  return edited(source, pfnFixEdits(source, shape!, form))
}
