import { expect, it } from 'vitest'
import { deriveProfile, profiles, RamMedia, simulate } from './index.js'

it.each([
  ['two namespaces of one NSID', { namespaces: [{}, { nsid: 1 }] }, /same NSID/],
  ['NSID 0h', { namespaces: [{ nsid: 0 }] }, /NSID from 1 to FFFFFFFEh, got 0/],
  ['a block size that is not there', { namespaces: [{ blockBytes: 520 as 512 }] }, /512 or 4096 bytes, got 520/],
  ['a namespace without a block', { namespaces: [{ capacityBytes: 511 }] }, /capacity from 512/],
  [
    'more than the media holds',
    { namespaces: [{ capacityBytes: 8192, media: new RamMedia(4096) }] },
    /capacity from 512 to 4096 bytes, got 8192/,
  ],
])('refuses %s', (_, options, message) => {
  expect(() => simulate(options)).toThrow(message)
})

it('deriveProfile changes what it is given, field by field in CAP and Identify, and leaves the preset alone', () => {
  const derived = deriveProfile('sn740', { commandSlots: 7, CAP: { DSTRD: 2 }, identify: { MDTS: 5 } })
  expect(derived).toEqual({
    ...profiles.sn740,
    points: [],
    commandSlots: 7,
    CAP: { ...profiles.sn740.CAP, DSTRD: 2 },
    identify: { ...profiles.sn740.identify, MDTS: 5 },
  })
  expect(profiles.sn740.identify.MDTS).toBe(8)
})

it('every preset says where its figures come from', () => {
  for (const { source } of Object.values(profiles)) expect(source.length).toBeGreaterThan(20)
})

it('close takes the controller off the bus and closes the media', async () => {
  let closed = 0
  const media = Object.assign(new RamMedia(4096), { close: () => (closed += 1) })
  const { transport } = simulate({ namespaces: [{ media }] })
  await transport.close()
  expect(closed).toBe(1)
  expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
})
