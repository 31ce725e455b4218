import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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
} from '../../src/vfio-user/messages.js'
import { scratch } from '../../../../test/scratch.js'

/** Structures of linux/vfio.h that nvme-spec declares. */
const structures = { VfioRegionInfo, VfioCapability, VfioSparseMmap, VfioSparseArea, VfioIrqInfo, VfioIrqSet }

/** Values of nvme-spec, by C expressions that must be equal. */
const numbers: Record<string, number> = {
  VFIO_PCI_NUM_REGIONS: Object.keys(VFIO_REGION).length,
  VFIO_PCI_NUM_IRQS: Object.keys(VFIO_IRQ).length,
  VFIO_REGION_INFO_CAP_SPARSE_MMAP: VFIO_REGION_CAPABILITY.SPARSE_MMAP,
  'offsetof(struct vfio_device_info, cap_offset)': VfioUserDeviceInfo.bytes,
  // Arrays after the structures: areas, and descriptors in the request to the kernel.
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
  // In linux/vfio.h the structure begins with the header of the capability.
  const shift = name === 'vfio_region_info_cap_sparse_mmap' ? VfioCapability.bytes : 0
  for (const [field, { offset, lengthBytes }] of Object.entries(fields)) {
    numbers[`offsetof(struct ${name}, ${field.toLowerCase()})`] = offset + shift
    numbers[`sizeof(((struct ${name} *)0)->${field.toLowerCase()})`] = lengthBytes
  }
  numbers[`sizeof(struct ${name})`] = bytes + shift
}

test('every number, offset and size equals that of linux/vfio.h, as gcc compiles it', ({ skip }) => {
  if (spawnSync('gcc', ['--version']).error) return skip('[headers] gcc is not installed')
  const probe = spawnSync('gcc', ['-E', '-x', 'c', '-'], { input: '#include <linux/vfio.h>\n' })
  if (probe.status !== 0) return skip('[headers] linux/vfio.h is not installed')
  expect(Object.keys(numbers).length).toBeGreaterThanOrEqual(70)
  const folder = scratch()
  const program = join(folder, 'program')
  const prints = Object.keys(numbers).map((expression) => `printf("%llu\\n", (unsigned long long)(${expression}));`)
  const includes = ['linux/vfio.h', 'stddef.h', 'stdio.h'].map((name) => `#include <${name}>`)
  const source = [...includes, 'int main(void) {', ...prints, '}', ''].join('\n')
  const compiled = spawnSync('gcc', ['-x', 'c', '-', '-o', program], { input: source, encoding: 'utf8' })
  // Headers of an older kernel lack names, but existing names never change their values.
  const lacking = /'(\w+)' undeclared|no member named '(\w+)'/.exec(compiled.stderr)
  if (lacking) return skip(`[headers] linux/vfio.h lacks ${lacking[1] ?? lacking[2]}, expected that of Linux 6.1`)
  expect(compiled.status, compiled.stderr).toBe(0)
  const values = execFileSync(program, { encoding: 'utf8' }).trim().split('\n').map(Number)
  expect(numbers).toEqual(
    Object.fromEntries(Object.keys(numbers).map((expression, index) => [expression, values[index]])),
  )
})
