import { expect, test } from 'vitest'
import { openingOf } from './driver-choice.js'

const group = (type: string | undefined) => ({ number: '12', type, isNoIommu: false, functions: [] })

test.each([
  ['vfio-pci', group('DMA'), { transport: 'vfio' }],
  ['gpunvme', group('DMA'), { transport: 'kmod' }],
  [undefined, undefined, { transport: 'sysfs' }],
  ['uio_pci_generic', group('identity'), { transport: 'sysfs' }],
])('openingOf returns the transport for driver %s', (driver, iommu, opening) => {
  expect(openingOf({ driver, group: iommu })).toEqual(opening)
})

test('openingOf returns none without a driver if the IOMMU translates or may translate', () => {
  for (const type of ['DMA', 'DMA-FQ', undefined])
    expect(openingOf({ driver: undefined, group: group(type) })).toEqual({
      none: 'its IOMMU translates addresses, and sysfs uses physical ones: bind it with --to vfio-pci',
    })
})

test('openingOf returns none for a drive bound to nvme', () => {
  expect(openingOf({ driver: 'nvme', group: undefined })).toEqual({ none: "it is bound to the kernel's driver nvme" })
})
