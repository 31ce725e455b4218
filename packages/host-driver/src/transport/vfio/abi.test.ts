import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VfioUserDeviceInfo, VfioUserDmaUnmap } from '@gpunvme/nvme-spec/vfio-user'
import { scratch } from '../../../../../test/scratch.js'
import { DmaMap, GroupStatus, IOMMU, IOMMU_CAPABILITY, IommuInfo, VFIO } from './abi.js'

/**
 * Structures of linux/vfio.h and their fields, with the header's names in upper case. Structures that have Linux's names
 * in nvme-spec are compared in that package.
 */
const structures = [
  { declaration: GroupStatus, name: 'vfio_group_status', fields: ['ARGSZ', 'FLAGS'] },
  { declaration: VfioUserDeviceInfo, name: 'vfio_device_info', fields: ['ARGSZ', 'FLAGS', 'NUM_REGIONS', 'NUM_IRQS'] },
  {
    declaration: IommuInfo,
    name: 'vfio_iommu_type1_info',
    fields: ['ARGSZ', 'FLAGS', 'IOVA_PGSIZES', 'CAP_OFFSET'],
  },
  { declaration: DmaMap, name: 'vfio_iommu_type1_dma_map', fields: ['ARGSZ', 'FLAGS', 'VADDR', 'IOVA', 'SIZE'] },
  { declaration: VfioUserDmaUnmap, name: 'vfio_iommu_type1_dma_unmap', fields: ['ARGSZ', 'FLAGS', 'SIZE'] },
]

/** C expressions, and the values declared in this package. */
const numbers: Record<string, number> = {
  ...Object.fromEntries(Object.entries(VFIO).map(([name, number]) => [`VFIO_${name}`, number])),
  VFIO_TYPE1_IOMMU: IOMMU.TYPE1,
  VFIO_TYPE1v2_IOMMU: IOMMU.TYPE1v2,
  VFIO_NOIOMMU_IOMMU: IOMMU.NOIOMMU,
  VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE: IOMMU_CAPABILITY.IOVA_RANGE,
  VFIO_GROUP_FLAGS_VIABLE: 1 << GroupStatus.FLAGS.VIABLE.lsb,
  VFIO_DEVICE_FLAGS_RESET: 1 << VfioUserDeviceInfo.FLAGS.RESET.lsb,
  'sizeof(struct vfio_iommu_type1_dma_unmap)': VfioUserDmaUnmap.bytes,
  'offsetof(struct vfio_iommu_type1_dma_unmap, iova)': VfioUserDmaUnmap.ADDRESS.offset,
  VFIO_IOMMU_INFO_PGSIZES: 1 << IommuInfo.FLAGS.PGSIZES.lsb,
  VFIO_IOMMU_INFO_CAPS: 1 << IommuInfo.FLAGS.CAPS.lsb,
  VFIO_DMA_MAP_FLAG_READ: 1 << DmaMap.FLAGS.READ.lsb,
  VFIO_DMA_MAP_FLAG_WRITE: 1 << DmaMap.FLAGS.WRITE.lsb,
  'offsetof(struct vfio_iommu_type1_info_cap_iova_range, iova_ranges)': 16,
}
for (const { declaration, name, fields } of structures)
  for (const field of fields) {
    const { offset } = (declaration as unknown as Record<string, { offset: number }>)[field]!
    numbers[`offsetof(struct ${name}, ${field.toLowerCase()})`] = offset
  }

test('constants and field offsets equal those of linux/vfio.h, as compiled by gcc', ({ skip }) => {
  if (spawnSync('gcc', ['--version']).error) return skip('[headers] gcc is not installed')
  const probe = spawnSync('gcc', ['-E', '-x', 'c', '-'], { input: '#include <linux/vfio.h>\n' })
  if (probe.status !== 0) return skip('[headers] linux/vfio.h is not installed')
  const folder = scratch()
  const program = join(folder, 'program')
  const prints = Object.keys(numbers).map((expression) => `printf("%llu\\n", (unsigned long long)(${expression}));`)
  const source = `#include <linux/vfio.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) { ${prints.join('\n')} }\n`
  execFileSync('gcc', ['-x', 'c', '-', '-o', program], { input: source })
  const values = execFileSync(program, { encoding: 'utf8' }).trim().split('\n').map(Number)
  const theirs = Object.fromEntries(Object.keys(numbers).map((expression, index) => [expression, values[index]]))
  expect(numbers).toEqual(theirs)
})
