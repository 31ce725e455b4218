import { expect, test } from 'vitest'
import { trustedLink } from './trusted-link.js'

test('trustedLink ignores the link of a QEMU drive', () => {
  const link = { gen: 1, width: 1, mps: 128 } as const
  expect(trustedLink('QEMU NVMe Ctrl', link)).toBeUndefined()
  expect(trustedLink('WD PC SN740 SDDPNQD-512G', link)).toBe(link)
  expect(trustedLink('WD PC SN740 SDDPNQD-512G', undefined)).toBeUndefined()
})
