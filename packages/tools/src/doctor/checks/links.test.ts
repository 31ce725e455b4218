import { expect, test } from 'vitest'
import { DRIVE, facts, GPU, NEEDS_ROOT, withFunction } from '../../../test/doctor/facts.js'
import type { PciFunction } from '../../machine/pci-function.js'
import { checkLinks } from './links.js'

function about(address: string, changes: Partial<PciFunction>) {
  return checkLinks(facts({ machine: withFunction(address, changes) })).filter(({ subjects }) =>
    subjects.includes(address),
  )
}

function found(address: string, changes: Partial<PciFunction>, id: string) {
  return about(address, changes).find((each) => each.id === id)
}

test('a Gen4 drive in a Gen3 slot is a note with the limit of the slot', () => {
  const findings = about(DRIVE, {})
  expect(findings.map(({ id, severity }) => [id, severity])).toEqual([
    ['slot-limits', 'note'],
    ['link', 'ok'],
    ['payload', 'ok'],
  ])
  expect(findings[0]!.title).toBe('Drive 0000:0b:00.0 supports Gen4 x4, its slot Gen3 x4')
  // 8 GT/s x 4 x 128/130, of which 256 of 280 bytes are payload.
  expect(findings[1]!.title).toBe('Drive 0000:0b:00.0: link Gen3 x4, at most 3.6 GB/s of payload')
})

test('missing lanes are a problem, even with ASPM', () => {
  const link = { max: { gen: 4, lanes: 4 }, now: { gen: 3, lanes: 2 } }
  expect(found(DRIVE, { link, aspm: { supported: ['L1'], enabled: ['L1'] } }, 'link-narrow')).toMatchObject({
    severity: 'problem',
    title: 'Drive 0000:0b:00.0: link has 2 of 4 lanes',
    closes: [],
  })
})

test('a low speed is a problem for a drive without ASPM, and a note with ASPM or for a GPU', () => {
  const link = { max: { gen: 4, lanes: 4 }, now: { gen: 1, lanes: 4 } }
  expect(found(DRIVE, { link }, 'link-slow')?.severity).toBe('problem')
  expect(found(DRIVE, { link, aspm: { supported: ['L1'], enabled: ['L1'] } }, 'link-slow-idle')?.severity).toBe('note')
  const gpuLink = { max: { gen: 4, lanes: 16 }, now: { gen: 1, lanes: 16 } }
  expect(found(GPU, { link: gpuLink }, 'link-slow-idle')?.severity).toBe('note')
})

test('an unreadable link is unknown, not ok', () => {
  expect(about(DRIVE, { link: NEEDS_ROOT, packets: NEEDS_ROOT, errors: NEEDS_ROOT })).toMatchObject([
    { id: 'link-unknown', severity: 'unknown', evidence: [{ value: NEEDS_ROOT.unknown }] },
  ])
})

test('a function that reads all ones is a blocker', () => {
  expect(about(DRIVE, { isResponding: false })).toMatchObject([
    { id: 'off-the-bus', severity: 'blocker', closes: ['memory'], subjects: [DRIVE] },
  ])
})

test('a payload size above that of the port is a problem, a smaller one a note', () => {
  const packets = { maxPayloadSupportedBytes: 512, maxPayloadBytes: 512, maxReadRequestBytes: 512 }
  expect(found(DRIVE, { packets }, 'payload-mismatch')?.severity).toBe('problem')
  const small = { ...packets, maxPayloadBytes: 128 }
  expect(found(DRIVE, { packets: small }, 'payload-mismatch')?.severity).toBe('note')
})

test('a completion timeout recorded by a GPU is attributed to peer reads', () => {
  const timeout = found(GPU, { errors: { correctable: [], uncorrectable: ['CTS'] } }, 'link-errors')
  expect(timeout).toMatchObject({ severity: 'problem', cause: expect.stringMatching(/drop such reads/) as string })
  const old = found(DRIVE, { errors: { correctable: [], uncorrectable: ['CTS'] } }, 'link-errors')
  expect(old?.cause).toMatch(/may be old/)
  expect(found(GPU, { errors: { correctable: ['RES'], uncorrectable: [] } }, 'link-corrected')?.severity).toBe('note')
})
