import { describe, expect, it } from 'vitest'
import { TestHost } from '../../test/host.js'
import { deriveProfile, profiles, type ProfileName } from './index.js'

// VS, the longest transfer in KiB, and CAP.MQES as a count, typed from what the presets' sources say.
const facts = [
  ['ideal', 0x0002_0100, 1024, 1024],
  ['sn740', 0x0001_0400, 1024, 1024],
  ['sn530', 0x0001_0400, 512, 1024],
  ['980pro', 0x0001_0300, 512, 16_384],
  ['990pro', 0x0002_0000, 2048, 16_384],
  ['p5800x', 0x0001_0300, 128, 4096],
  ['pm1753', 0x0002_0000, 1024, 16_384],
] as const satisfies readonly (readonly [ProfileName, number, number, number])[]

it('there is a preset for each of these, under its own name', () => {
  expect(Object.keys(profiles).sort()).toEqual(facts.map(([name]) => name).sort())
  for (const [name] of facts) expect(profiles[name].name).toBe(name)
})

describe.each(facts)('%s', (name, version, transferKib, queueEntries) => {
  it('comes up and says what it is: VS, MQES, MDTS, and that it is simulated', async () => {
    const host = new TestHost({ profile: name })
    expect(host.bar.read32(0x08)).toBe(version)
    expect((host.bar.read32(0x00) & 0xffff) + 1).toBe(queueEntries)
    expect((await host.enable()) & 1).toBe(1)
    const identify = host.alloc(4096)
    const { status } = await host.admin({ opcode: 0x06, prp1: identify.iovaAt(0), cdw: { 10: 1 } })
    expect(status).toBe('0/00')
    const text = (offset: number, length: number) =>
      String.fromCharCode(...Array.from({ length }, (_, i) => identify.view!.getUint8(offset + i))).trimEnd()
    expect(text(4, 20)).toMatch(/^GPUNVME-SIM-/)
    expect(text(24, 40)).toMatch(/simulated/)
    expect(4 * 2 ** identify.view!.getUint8(77)).toBe(transferKib)
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('says where its figures come from', () => {
    expect(profiles[name].source.length).toBeGreaterThan(20)
  })
})

it('no two presets have a serial number or a model in common', () => {
  const all = Object.values(profiles)
  expect(new Set(all.map(({ identify }) => identify.SN)).size).toBe(7)
  expect(new Set(all.map(({ identify }) => identify.MN)).size).toBe(7)
})

it('a changed drive is not the one that the points are about', () => {
  expect(deriveProfile('sn740', { commandNs: 1 }).points).toEqual([])
})
