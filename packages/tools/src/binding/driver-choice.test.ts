import { expect, test } from 'vitest'
import { openingOf } from './driver-choice.js'

const group = (type: string | undefined) => ({ number: '12', type, isNoIommu: false, functions: [] })

test.each([
  ['vfio-pci', group('DMA'), { transport: 'vfio' }],
  ['gpunvme', group('DMA'), { transport: 'kmod' }],
  [undefined, undefined, { transport: 'sysfs' }],
  ['uio_pci_generic', group('identity'), { transport: 'sysfs' }],
])('%s is what a transport opens', (driver, iommu, opening) => {
  expect(openingOf({ driver, group: iommu })).toEqual(opening)
})

test('without a driver nothing opens a drive whose IOMMU translates, or may', () => {
  for (const type of ['DMA', 'DMA-FQ', undefined])
    expect(openingOf({ driver: undefined, group: group(type) })).toEqual({
      none: 'its IOMMU translates addresses, and sysfs uses physical ones: bind it with --to vfio-pci',
    })
})

test("nothing opens what the kernel's own driver has", () => {
  expect(openingOf({ driver: 'nvme', group: undefined })).toEqual({ none: "it is bound to the kernel's driver nvme" })
})
