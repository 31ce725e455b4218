import * as spec from '@gpunvme/nvme-spec'
import { simulate } from '@gpunvme/nvme-sim'
import { Controller } from '@gpunvme/host-driver'
import { expect, test } from 'vitest'
import { isClaimed } from './claims.js'
import { FEATURES, featureNamed, listedFeature, nameOfFeature } from './feature-list.js'
import { inventory, readFeature } from './read-feature.js'
import type { AdminView } from './view.js'

const NOW = { select: 'current', nsid: 1, cdw11: undefined } as const

async function withView(use: (view: AdminView) => Promise<void>): Promise<void> {
  const { transport } = simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }] })
  await using reader = await Controller.open(transport)
  await use({
    by: 'driver',
    name: 'sim',
    source: '',
    reader,
    readRegister: (register) => reader.registers.read(register),
  })
}

test('FEATURES has every feature of nvme-spec once, sorted by FID', () => {
  const declared = Object.values(spec as Record<string, unknown>).filter(
    (each): each is { fid: number; name: string } => typeof each === 'object' && each !== null && 'fid' in each,
  )
  expect(declared.length).toBeGreaterThan(40)
  const fids = FEATURES.map(({ feature }) => feature.fid)
  expect(fids).toEqual(declared.map(({ fid }) => fid).toSorted((a, b) => a - b))
})

test('every claim in FEATURES names a field of Identify Controller', () => {
  const identity = spec.IdentifyController.decode(spec.IdentifyController.create().data)
  for (const { claim } of FEATURES) if (typeof claim === 'object') expect(isClaimed(identity, claim)).toBe(false)
})

test('featureNamed accepts dashes and underscores; unknown features are listed by number', () => {
  expect(nameOfFeature(0x02)).toBe('power-management')
  expect(featureNamed('POWER_MANAGEMENT')?.feature).toBe(spec.PowerManagement)
  expect(featureNamed('io-command-set-profile')?.feature).toBe(spec.IoCommandSetProfile)
  expect(featureNamed('key-value-configuration')?.feature.fid).toBe(0x20)
  expect(featureNamed('nope')).toBeUndefined()
  expect(listedFeature(0xc5).feature).toMatchObject({ fid: 0xc5, name: 'Vendor Specific' })
})

test('readFeature decodes values and data, and passes on Command Dword 11', async () => {
  await withView(async (view) => {
    // The under-temperature threshold is a separate value, 0 by default.
    const over = await readFeature(view, featureNamed('temperature-threshold')!, NOW)
    const under = await readFeature(view, featureNamed('temperature-threshold')!, { ...NOW, cdw11: 0x0010_0000 })
    expect(over.text).toMatch(/^TMPTH=343 \(70 °C\) TMPSEL=0 THSEL=OVER/)
    expect(under.text).toMatch(/^TMPTH=0 TMPSEL=0 /)
    const timestamp = await readFeature(view, featureNamed('timestamp')!, NOW)
    expect(timestamp.data?.object).toMatchObject({
      structure: 'Timestamp data',
      fields: { TSTMP: expect.any(Number) as unknown },
    })
    const supported = await readFeature(view, featureNamed('timestamp')!, { ...NOW, select: 'supported' })
    expect(supported.text).toBe('changeable, not saveable')
  })
})

test('readFeature rejects unsupported features, and --cdw11 for a feature with one value', async () => {
  await withView(async (view) => {
    const missing = readFeature(view, featureNamed('host-memory-buffer')!, NOW)
    await expect(missing).rejects.toThrow('This drive does not support Host Memory Buffer (0x0d)')
    await expect(missing).rejects.toMatchObject({ code: 'ERR_GPUNVME_NOT_SUPPORTED', category: 'infeasible' })
    const meaningless = readFeature(view, featureNamed('timestamp')!, { ...NOW, cdw11: 1 })
    await expect(meaningless).rejects.toThrow('--cdw11: Timestamp has a single value')
  })
})

test('inventory separates features that the drive lists from others with a reason', async () => {
  await withView(async (view) => {
    const { present, absent } = await inventory(view)
    const fids = present.map(({ feature }) => feature.fid)
    expect(fids).toEqual(expect.arrayContaining([0x01, 0x02, 0x04, 0x07, 0x0e]))
    expect(absent.find(({ listed }) => listed.feature.fid === 0x0d)?.reason).toBe('not listed in log page 12h')
    expect(fids.length + absent.length).toBeGreaterThanOrEqual(FEATURES.length)
  })
})
