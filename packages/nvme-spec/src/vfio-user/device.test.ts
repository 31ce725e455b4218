import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { fromHex, toHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'
import {
  VFIO_IRQ,
  VFIO_REGION,
  VFIO_REGION_CAPABILITY,
  VfioCapability,
  VfioIrqInfo,
  VfioIrqSet,
  VfioRegionInfo,
  VfioSparseArea,
  VfioSparseMmap,
  VfioUserDeviceInfo,
} from './device.js'

describe('what vfio-user 0.9.2 has of linux/vfio.h', () => {
  it('VfioUserDeviceInfo is the part that was there before capabilities', () => {
    expect(VfioUserDeviceInfo.bytes).toBe(16)
    expect(places(VfioUserDeviceInfo)).toEqual([
      ['ARGSZ', 0, 4],
      ['FLAGS', 4, 4],
      ['NUM_REGIONS', 8, 4],
      ['NUM_IRQS', 12, 4],
    ])
  })

  describeRows([
    [wordOf(VfioUserDeviceInfo, 'FLAGS'), { RESET: 0x1n, PCI: 0x2n }],
    [wordOf(VfioRegionInfo, 'FLAGS'), { READ: 0x1n, WRITE: 0x2n, MMAP: 0x4n, CAPS: 0x8n }],
    [wordOf(VfioIrqInfo, 'FLAGS'), { EVENTFD: 0x1n, MASKABLE: 0x2n, AUTOMASKED: 0x4n, NORESIZE: 0x8n }],
    [
      wordOf(VfioIrqSet, 'FLAGS'),
      {
        DATA_NONE: 0x01n,
        DATA_BOOL: 0x02n,
        DATA_EVENTFD: 0x04n,
        ACTION_MASK: 0x08n,
        ACTION_UNMASK: 0x10n,
        ACTION_TRIGGER: 0x20n,
      },
    ],
  ])

  it('BAR0 of 16 KiB whose second page can be mapped, for doorbells', () => {
    const answer = fromHex(
      '40 00 00 00  0f 00 00 00  00 00 00 00  20 00 00 00  00 40 00 00 00 00 00 00  00 00 00 00 00 00 00 00 ' +
        '01 00 01 00  00 00 00 00  01 00 00 00  00 00 00 00  00 10 00 00 00 00 00 00  00 10 00 00 00 00 00 00',
    )
    expect(VfioRegionInfo.decode(answer)).toEqual({
      ARGSZ: 64,
      FLAGS: { READ: 1, WRITE: 1, MMAP: 1, CAPS: 1 },
      INDEX: VFIO_REGION.BAR0,
      CAP_OFFSET: 32,
      SIZE: 0x4000n,
      OFFSET: 0n,
    })
    expect(VfioCapability.decode(answer, 32)).toEqual({ ID: VFIO_REGION_CAPABILITY.SPARSE_MMAP, VERSION: 1, NEXT: 0 })
    expect(VfioSparseMmap.decode(answer, 40)).toEqual({ NR_AREAS: 1 })
    expect(VfioSparseArea.decode(answer, 48)).toEqual({ OFFSET: 0x1000n, SIZE: 0x1000n })
  })

  it('two eventfds for the MSI-X vectors from 1 on, which come beside the message', () => {
    const { data } = VfioIrqSet.create({
      ARGSZ: 20,
      FLAGS: { DATA_EVENTFD: 1, ACTION_TRIGGER: 1 },
      INDEX: VFIO_IRQ.MSIX,
      START: 1,
      COUNT: 2,
    })
    expect(toHex(data)).toBe('14 00 00 00 24 00 00 00 02 00 00 00 01 00 00 00 02 00 00 00')
  })
})

/** Structures of linux/vfio.h that are declared here, by the names that they have there. */
const structures = { VfioRegionInfo, VfioCapability, VfioSparseMmap, VfioSparseArea, VfioIrqInfo, VfioIrqSet }

/** Expressions of C, and what they are here. */
const numbers: Record<string, number> = {
  VFIO_PCI_NUM_REGIONS: Object.keys(VFIO_REGION).length,
  VFIO_PCI_NUM_IRQS: Object.keys(VFIO_IRQ).length,
  VFIO_REGION_INFO_CAP_SPARSE_MMAP: VFIO_REGION_CAPABILITY.SPARSE_MMAP,
  'offsetof(struct vfio_device_info, cap_offset)': VfioUserDeviceInfo.bytes,
  // What follows: the areas, and of the kernel's own request the descriptors.
  'offsetof(struct vfio_region_info_cap_sparse_mmap, areas)': VfioCapability.bytes + VfioSparseMmap.bytes,
  'offsetof(struct vfio_irq_set, data)': VfioIrqSet.bytes,
}
for (const [name, index] of Object.entries(VFIO_REGION)) numbers[`VFIO_PCI_${name}_REGION_INDEX`] = index
for (const [name, index] of Object.entries(VFIO_IRQ)) numbers[`VFIO_PCI_${name}_IRQ_INDEX`] = index
for (const [flags, prefix] of [
  [VfioUserDeviceInfo.FLAGS, 'VFIO_DEVICE_FLAGS_'],
  [VfioRegionInfo.FLAGS, 'VFIO_REGION_INFO_FLAG_'],
  [VfioIrqInfo.FLAGS, 'VFIO_IRQ_INFO_'],
  [VfioIrqSet.FLAGS, 'VFIO_IRQ_SET_'],
] as const)
  for (const [name, bit] of Object.entries(flags as unknown as Record<string, { readonly lsb?: number }>))
    if (bit.lsb !== undefined) numbers[`${prefix}${name}`] = 1 << bit.lsb
for (const { name, fields, bytes } of Object.values(structures)) {
  // The capability's own fields stand behind its header there.
  const shift = name === 'vfio_region_info_cap_sparse_mmap' ? VfioCapability.bytes : 0
  for (const [field, { offset, lengthBytes }] of Object.entries(fields)) {
    numbers[`offsetof(struct ${name}, ${field.toLowerCase()})`] = offset + shift
    numbers[`sizeof(((struct ${name} *)0)->${field.toLowerCase()})`] = lengthBytes
  }
  numbers[`sizeof(struct ${name})`] = bytes + shift
}

test('every number and place is that of linux/vfio.h, as its compiler has it', ({ skip }) => {
  if (spawnSync('gcc', ['--version']).error) return skip('[headers] gcc is not installed')
  const probe = spawnSync('gcc', ['-E', '-x', 'c', '-'], { input: '#include <linux/vfio.h>\n' })
  if (probe.status !== 0) return skip('[headers] linux/vfio.h is not installed')
  expect(Object.keys(numbers).length).toBeGreaterThanOrEqual(70)
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-vfio-'))
  try {
    const program = join(folder, 'program')
    const prints = Object.keys(numbers).map((expression) => `printf("%llu\\n", (unsigned long long)(${expression}));`)
    const includes = ['linux/vfio.h', 'stddef.h', 'stdio.h'].map((name) => `#include <${name}>`)
    const source = [...includes, 'int main(void) {', ...prints, '}', ''].join('\n')
    execFileSync('gcc', ['-x', 'c', '-', '-o', program], { input: source })
    const values = execFileSync(program, { encoding: 'utf8' }).trim().split('\n').map(Number)
    expect(numbers).toEqual(
      Object.fromEntries(Object.keys(numbers).map((expression, index) => [expression, values[index]])),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
