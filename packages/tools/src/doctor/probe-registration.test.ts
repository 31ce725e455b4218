import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DRIVE, facts, GPU, MACHINE, NVIDIA, RUNNING, withFunction } from '../../test/doctor/facts.js'
import { fakeRm, type FakeDriver } from '../../../cuda-native/test/rm/fake-rm.js'
import { scratch } from '../../test/gpunvme.js'
import { probeRegistration } from './probe-registration.js'

/** Creates a root with the nodes of the NVIDIA driver and the registers of a drive, 16 KiB. */
function root(): string {
  const path = scratch()
  const drive = join(path, 'sys/bus/pci/devices', DRIVE)
  for (const folder of [join(path, 'dev'), drive]) mkdirSync(folder, { recursive: true })
  for (const node of ['nvidiactl', 'nvidia0']) writeFileSync(join(path, 'dev', node), '')
  writeFileSync(join(drive, 'resource0'), new Uint8Array(16384))
  return path
}

function probe(driver: FakeDriver, version = '590.48.01', driverOfDrive?: string) {
  const fake = fakeRm(driver)
  const machine = { ...withFunction(DRIVE, { driver: driverOfDrive }), root: root() }
  const asked = facts({ machine, nvidia: { running: { ...RUNNING, version } } })
  return { findings: probeRegistration(asked, fake.host, []), ...fake }
}

test('accepted registers are freed in the order that RM requires', () => {
  const { findings, calls, memory } = probe({ statusOffset: 28 })
  expect(findings).toMatchObject([
    { id: 'rm-registers', severity: 'ok', subjects: [GPU, DRIVE], closes: [], opens: [] },
  ])
  expect(findings[0]!.cause).toMatch(/on no GPU/)
  // NVOS02 flags of nvos.h: uncached, contiguous, PCI are 0; MAPPING_NO_MAP is 1 in bits 31:30.
  expect(memory).toEqual([{ address: 0x7f00_0000_0000n, limit: 16383n, flags: 0x4000_0000 }])
  expect(calls).toEqual([
    { escape: 201, lengthBytes: 4, subject: 4 },
    { escape: 0x2b, lengthBytes: 32, subject: 0x41 },
    { escape: 0x2a, lengthBytes: 32, subject: 0x201 },
    { escape: 0x2a, lengthBytes: 32, subject: 0x21b },
    { escape: 0x2a, lengthBytes: 32, subject: 0x205 },
    { escape: 0x2b, lengthBytes: 32, subject: 0x80 },
    { escape: 0x27, lengthBytes: 56, subject: 0x71 },
    { escape: 0x29, lengthBytes: 16, subject: 0x0d0c_0002 },
    { escape: 0x29, lengthBytes: 16, subject: 0xc1d0_0001 },
  ])
})

test('the status of RM_ALLOC is at byte 24 before version 535, and at byte 28 since', () => {
  const refusal = { device: 0x1a }
  expect(probe({ statusOffset: 24, ...refusal }, '525.147.05').findings[0]).toMatchObject({ id: 'rm-refused' })
  expect(probe({ statusOffset: 28, ...refusal }, '535.54.03').findings[0]).toMatchObject({
    id: 'rm-refused',
    severity: 'unknown',
    title: "--rm: NVIDIA's module failed before the registration: device, NV_ERR_INSUFFICIENT_RESOURCES (0x1a)",
  })
  expect(probe({ statusOffset: 24 }, '525.147.05').findings[0]).toMatchObject({ id: 'rm-registers' })
})

test('NV_ERR_INVALID_ADDRESS is reported as a broken PFN lookup, and the client is freed', () => {
  const { findings, calls } = probe({ statusOffset: 28, registers: 0x1e })
  expect(findings).toMatchObject([{ id: 'rm-refused', severity: 'problem' }])
  expect(findings[0]!.title).toMatch(/NV_ERR_INVALID_ADDRESS \(0x1e\)$/)
  expect(findings[0]!.cause).toMatch(/PFN lookup does not work/)
  expect(calls.at(-1)).toEqual({ escape: 0x29, lengthBytes: 16, subject: 0xc1d0_0001 })
})

test('the GPU is found by address among the attached ones', () => {
  const gpus = [[0, 0x41, 0] as const, [0, 0x0a, 0] as const]
  expect(probe({ statusOffset: 28, gpus }).findings).toMatchObject([{ id: 'rm-registers' }])
  expect(probe({ statusOffset: 28, gpus: [[0, 0x41, 0]] }).findings[0]!.title).toMatch(/list of GPUs/)
})

test('an unverified driver version is not probed', () => {
  for (const version of ['520.56.06', '615.71.09', 'unknown']) {
    const { findings, calls } = probe({ statusOffset: 28 }, version)
    expect(findings).toMatchObject([{ id: 'rm-not-asked', severity: 'unknown' }])
    expect(calls).toEqual([])
  }
})

test('a drive bound to nvme is not probed', () => {
  const { findings, calls } = probe({ statusOffset: 28 }, '590.48.01', 'nvme')
  expect(findings).toMatchObject([{ id: 'rm-not-asked', severity: 'note' }])
  expect(calls).toEqual([])
})

test('missing nodes and a missing GPU are reported as unprobed', () => {
  const { host } = fakeRm({ statusOffset: 28 })
  const machine = { ...MACHINE, ...withFunction(DRIVE, { driver: undefined }), root: scratch() }
  expect(probeRegistration(facts({ machine }), host, [])).toMatchObject([
    { id: 'rm-not-asked', severity: 'unknown', title: '--rm: the kernel refused: ENOENT' },
  ])
  expect(probeRegistration(facts({ nvidia: { ...NVIDIA, gpus: [] } }), host, [])).toMatchObject([
    { id: 'rm-not-asked' },
  ])
})
