import { expect, test } from 'vitest'
import { trustedLink } from './trusted-link.js'

test('the Gen1 x1 that QEMU writes into a register limits nothing, and a link of a real drive does', () => {
  const link = { gen: 1, width: 1, mps: 128 } as const
  expect(trustedLink('QEMU NVMe Ctrl', link)).toBeUndefined()
  expect(trustedLink('WD PC SN740 SDDPNQD-512G', link)).toBe(link)
  expect(trustedLink('WD PC SN740 SDDPNQD-512G', undefined)).toBeUndefined()
})
