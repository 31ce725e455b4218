import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chooseDriver, openingOf } from './driver-choice.js'

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

test.each([
  ['none', undefined, 'gpunvme', 'the module gpunvme is loaded'],
  ['integrity', group('DMA'), 'gpunvme', 'the module gpunvme is loaded'],
  ['integrity', group('identity'), 'vfio-pci', 'the IOMMU is on (group 12)'],
  ['integrity', undefined, null, /^there is no IOMMU, or it is off, and .* since the kernel is locked down$/],
] as const)('chooseDriver avoids the module if lockdown (%s) refuses it', (level, iommu, driver, reason) => {
  const root = mkdtempSync(join(tmpdir(), 'gpunvme-choice-'))
  try {
    for (const folder of ['sys/bus/pci/drivers/gpunvme', 'sys/kernel/security'])
      mkdirSync(join(root, folder), { recursive: true })
    const levels = ['none', 'integrity', 'confidentiality'].map((name) => (name === level ? `[${name}]` : name))
    writeFileSync(join(root, 'sys/kernel/security/lockdown'), levels.join(' '))
    const choice = chooseDriver(root, { group: iommu }, undefined)
    expect(choice.driver).toBe(driver)
    expect(choice.reason).toMatch(reason)
  } finally {
    rmSync(root, { recursive: true })
  }
})
