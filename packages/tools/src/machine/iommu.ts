import type { Group, Iommu } from './machine.js'
import type { Root } from './root.js'

/** Driver names in /sys/class/iommu, by kind. */
const KINDS: readonly (readonly [name: RegExp, kind: string])[] = [
  [/^dmar\d/, 'Intel VT-d'],
  [/^ivhd\d/, 'AMD-Vi'],
  [/^(arm-smmu|smmu)/, 'Arm SMMU'],
  [/^virtio/, 'virtio-iommu'],
]

const CLASS = 'sys/class/iommu'
const GROUPS = 'sys/kernel/iommu_groups'

export async function readIommu(root: Root): Promise<Iommu> {
  const names = await root.list(CLASS)
  const groups = await readGroups(root)
  const kind = KINDS.find(([words]) => names.some((name) => words.test(name)))?.[1]
  // A group of vfio's no-IOMMU mode has no default domain and isolates nothing.
  const real = groups.filter(({ isNoIommu }) => !isNoIommu)
  const types = new Set(real.map(({ type }) => modeOf(type)))
  const [only] = types
  const mode = real.length === 0 ? 'off' : types.size === 1 ? only! : types.has('unknown') ? 'unknown' : 'mixed'
  return {
    mode,
    kind,
    evidence: [
      names.length === 0 ? `/${CLASS} lists no IOMMU` : `/${CLASS} lists ${names.join(', ')}`,
      real.length === 0 ? `/${GROUPS} has no groups` : `/${GROUPS}/*/type: ${tally(real)}`,
    ],
    groups: groups.map(({ number, type, functions }) => ({ number, type, functions })),
  }
}

interface FoundGroup extends Group {
  readonly isNoIommu: boolean
}

async function readGroups(root: Root): Promise<FoundGroup[]> {
  const found: FoundGroup[] = []
  for (const name of await root.list(GROUPS)) {
    if (!/^\d+$/.test(name)) continue
    found.push({
      number: Number(name),
      type: await root.text(`${GROUPS}/${name}/type`),
      isNoIommu: (await root.text(`${GROUPS}/${name}/name`)) === 'vfio-noiommu',
      functions: await root.list(`${GROUPS}/${name}/devices`),
    })
  }
  return found.sort((a, b) => a.number - b.number)
}

function modeOf(type: string | undefined): 'passthrough' | 'translated' | 'unknown' {
  if (type === 'identity') return 'passthrough'
  return type?.startsWith('DMA') ? 'translated' : 'unknown'
}

/** Returns 'identity 21, DMA 3'. */
function tally(groups: readonly Group[]): string {
  const counts = new Map<string, number>()
  for (const { type = 'no type' } of groups) counts.set(type, (counts.get(type) ?? 0) + 1)
  return Array.from(counts, ([type, count]) => `${type} ${count}`).join(', ')
}
