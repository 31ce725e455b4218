import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { CNS, TemperatureThreshold } from '@gpunvme/nvme-spec'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller, type ManagedController } from '../controller.js'
import type { WritableNamespace } from './writable-namespace.js'

const MIB = 1024 * 1024
const SERIAL = 'SIM00001'

async function open() {
  const profile = deriveProfile('ideal', { identify: { SN: SERIAL } })
  const simulation = simulate({ profile, namespaces: [{ capacityBytes: MIB }] })
  const ctrl = await Controller.open(simulation.transport, { write: { serial: SERIAL }, manage: true })
  const ns = ctrl.namespace(1)
  return { ctrl, ns, memory: ns.dma.alloc(4096), simulation }
}

type Call = (ns: WritableNamespace, memory: DmaMemory) => Promise<unknown>

test.each<[string, Call, string]>([
  [
    'no memory',
    (ns) => ns.read(0, 1, undefined as never),
    'memory: expected memory from ns.dma.alloc(), got undefined',
  ],
  ['bytes', (ns) => ns.read(0, 1, new Uint8Array(512) as never), 'memory from ns.dma.alloc(), got Uint8Array'],
  [
    'bytes to write',
    (ns) => ns.write(0, 1, new Uint8Array(512) as never),
    'memory from ns.dma.alloc(), got Uint8Array',
  ],
  [
    'bytes to compare',
    (ns) => ns.compare(0, 1, new Uint8Array(512) as never),
    'memory from ns.dma.alloc(), got Uint8Array',
  ],
  [
    'a bigint',
    (ns, memory) => ns.read(0n as never, 1, memory),
    'read: expected an LBA and at least 1 block, got SLBA 0n',
  ],
  ['a text', (ns, memory) => ns.read('0' as never, 1, memory), "got SLBA '0'"],
  [
    'time-outs in ms',
    (ns, memory) => ns.read(0, 1, memory, { timeoutMs: 5 } as never),
    "read: unknown 'timeoutMs'; known are offsetBytes, signal, timeoutNs",
  ],
  [
    'a text as signal',
    (ns, memory) => ns.read(0, 1, memory, { signal: 'x' as never }),
    "signal: expected an AbortSignal, got 'x'",
  ],
  [
    'null as options',
    (ns, memory) => ns.read(0, 1, memory, null as never),
    'read: expected an object of options, got null',
  ],
  [
    'an offset as text',
    (ns, memory) => ns.read(0, 1, memory, { offsetBytes: '4' as never }),
    "offsetBytes: expected a whole number of bytes, 0 or more, got '4'",
  ],
  [
    'a plan option',
    (ns, memory) => ns.execute(ns.planReads([]), memory, { offsetBytes: 0 } as never),
    "execute: unknown 'offsetBytes'",
  ],
  [
    'a time-out as text',
    (ns, memory) => ns.read(0, 1, memory, { timeoutNs: '5e9' as never }),
    "timeoutNs: expected a finite number of nanoseconds above 0, got '5e9'",
  ],
  ['no sources', (ns) => ns.copy(undefined as never, 0), 'sources: expected a list of { slba, blocks }, got undefined'],
  [
    'no ranges',
    (ns) => ns.deallocate(undefined as never),
    'ranges: expected a list of { slba, blocks }, got undefined',
  ],
  ['a flag as text', (ns) => ns.writeZeroes(0, 1, { fua: 'yes' as never }), "fua: expected true or false, got 'yes'"],
])('rejects %s with a TypeError that names what was expected', async (_, call, says) => {
  const { ctrl, ns, memory } = await open()
  const refusal = call(ns, memory)
  await expect(refusal).rejects.toThrow(TypeError)
  await expect(refusal).rejects.toThrow(says)
  await ctrl.close()
})

test.each([Infinity, 2 ** 53, -1, 0.5, NaN])('rejects LBA %d, whatever the size of the namespace', async (slba) => {
  const { ctrl, ns, memory } = await open()
  const refusal = ns.read(slba, 1, memory)
  await expect(refusal).rejects.toThrow(RangeError)
  await expect(refusal).rejects.toThrow(`got SLBA ${slba}, 1 blocks`)
  await ctrl.close()
})

test.each<[unknown, unknown, string]>([
  ['4096', undefined, "lengthBytes: expected a whole number of bytes, 1 or more, got '4096'"],
  [4096, { contiguos: true }, "alloc: unknown 'contiguos'; known are alignBytes, contiguous, where"],
  [4096, { alignBytes: '4096' }, "alignBytes: expected a power of two, got '4096'"],
  [4096, { where: 'vram' }, "where: expected one of 'host', 'gpu', got 'vram'"],
])('ns.dma.alloc(%o, %o) is rejected with a TypeError', async (lengthBytes, request, says) => {
  const { ctrl, ns } = await open()
  expect(() => ns.dma.alloc(lengthBytes as never, request as never)).toThrow(new TypeError(says))
  await ctrl.close()
})

test.each<[string, (ctrl: ManagedController) => Promise<unknown>, string]>([
  [
    'identify',
    (ctrl) => ctrl.identify(CNS.CONTROLLER, undefined as never),
    'structure: expected a structure of nvme-spec, got undefined',
  ],
  [
    'getFeature',
    (ctrl) => ctrl.getFeature(undefined as never),
    'feature: expected a feature of nvme-spec, got undefined',
  ],
  [
    'setFeature',
    (ctrl) => ctrl.management.setFeature(TemperatureThreshold, undefined as never),
    'setFeature: options: expected an object, got undefined',
  ],
  [
    'createNamespace',
    (ctrl) => ctrl.management.createNamespace({} as never),
    'blocks: expected a whole number of blocks, 1 or more, got undefined',
  ],
])('%s rejects a missing argument before anything is sent', async (_, call, says) => {
  const { ctrl, simulation } = await open()
  const sent = simulation.statistics.adminCommands
  await expect(call(ctrl)).rejects.toThrow(new TypeError(says))
  expect(simulation.statistics.adminCommands).toEqual(sent)
  await ctrl.close()
})

test('rejects an NSID as text with a TypeError', async () => {
  const { ctrl } = await open()
  expect(() => ctrl.namespace('1' as never)).toThrow(new TypeError("nsid: expected a number, got '1'"))
  await ctrl.close()
})

test('the error of a range past the end of a namespace names the last LBA', async () => {
  const { ctrl, ns, memory } = await open()
  const refusal = ns.read(2048, 1, memory)
  await expect(refusal).rejects.toMatchObject({ code: 'ERR_GPUNVME_LBA_RANGE' })
  await expect(refusal).rejects.toThrow('the last LBA of namespace 1 is 0x7ff')
  await ctrl.close()
})

test('does not send a flush that was aborted before', async () => {
  const { ctrl, ns } = await open()
  await expect(ns.flush({ signal: AbortSignal.abort(new Error('not now')) })).rejects.toThrow('not now')
  await ns.flush({ timeoutNs: 1_000_000_000, signal: new AbortController().signal })
  await ctrl.close()
})
