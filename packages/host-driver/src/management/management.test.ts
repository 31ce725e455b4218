import {
  CreateIoSq,
  FormatNvm,
  GetLogPage,
  Identify,
  IdentifyController,
  KeepAlive,
  NumberOfQueues,
  Read,
  TemperatureThreshold,
  Timestamp,
  Write,
  zeroBased,
} from '@gpunvme/nvme-spec'
import { deriveProfile, simulate, type DriveProfile, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch, Transport } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { fillPattern, wrongBytes } from '../../test/pattern.js'
import { Controller } from '../controller.js'
import type { ControllerEvent } from '../events/controller-event.js'
import { ForeignDataError } from '../guard/guard.js'

const MIB = 1024 * 1024
const SECOND_NS = 1_000_000_000
const SERIAL = 'SIM00001'
const [FORMAT, NAMESPACE_MANAGEMENT] = [0x80, 0x0d]

let simulation: ReturnType<typeof simulate>
/** Admin commands in the order of their fetch, formatted as text. */
let fetched: string[]
afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

type Rule = { readonly match: FaultMatch; readonly action: FaultAction }

interface Setup {
  readonly identify?: DriveProfile['identify']
  readonly faults?: readonly { readonly match: FaultMatch; readonly action: FaultAction }[]
  readonly simulated?: SimulationOptions
  readonly overwrite?: readonly string[]
}

function open({ identify = {}, faults = [], simulated = {}, overwrite = [] }: Setup = {}) {
  fetched = []
  simulation = simulate({
    profile: deriveProfile('ideal', { identify: { SN: SERIAL, ...identify } }),
    namespaces: [{ capacityBytes: 8 * MIB }, { nsid: 2, capacityBytes: 4 * MIB }],
    spareCapacityBytes: 16 * MIB,
    faults: { rules: faults },
    trace: ({ name, command }) => {
      if (name === 'fetch' && command!.qid === 0) fetched.push(command!.text)
    },
    ...simulated,
  })
  return manage(simulation.transport, overwrite)
}

function manage(transport: Transport, overwrite: readonly string[] = []) {
  return Controller.open(transport, { commandTimeoutNs: SECOND_NS, write: { serial: SERIAL, overwrite }, manage: true })
}

/** Writes foreign data to a namespace: the signature of a boot sector, and a partition entry. */
async function partition(ctrl: Awaited<ReturnType<typeof open>>, nsid: number): Promise<void> {
  const ns = ctrl.namespace(nsid)
  const sector = ns.dma.alloc(ns.blockBytes)
  sector.view!.setUint16(510, 0x55aa)
  sector.view!.setUint8(446 + 4, 0x83)
  sector.view!.setUint32(446 + 12, 8, true)
  await ns.write(0, 1, sector)
}

test('management requires the option manage and the serial number', async () => {
  const ctrl = await open()
  expect(ctrl.management).toBeDefined()
  await ctrl.close()
  const writer = await Controller.open(simulation.transport, { write: { serial: SERIAL } })
  expect('management' in writer).toBe(false)
  await writer.close()
  const alone = { manage: true } as unknown as { readonly manage?: never }
  await expect(Controller.open(simulation.transport, alone)).rejects.toThrow('manage: requires { write: { serial } }')
})

describe('format', () => {
  test('changes the LBA format of the namespace, erases it, and reports the change', async () => {
    const ctrl = await open()
    const events = ctrl.events()
    const ns = ctrl.namespace(1)
    const memory = ns.dma.alloc(MIB)
    fillPattern(memory, 0)
    await ns.write(0, 2048, memory)
    const old = ns.planReads([{ slba: 0, blocks: 1, offsetBytes: 0 }])
    // Format 1 of the simulator: 4096 bytes without metadata.
    await ctrl.management.format(1, { lbaFormat: 1, secureErase: 'user-data' })
    expect(fetched).toContainEqual(expect.stringMatching(/^Format NVM .*NSID=1 .*LBAFL=1 .*SES=USER_DATA_ERASE/))
    expect(ctrl.namespace(1)).toBe(ns)
    expect([ns.blockBytes, ns.blocks]).toEqual([4096, 2048])
    await ns.read(0, 256, memory)
    expect(new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, MIB).every((byte) => byte === 0)).toBe(true)
    await expect(async () => ns.execute(old, memory)).rejects.toThrow('4096-byte blocks')
    const event: ControllerEvent = (await events.next()).value as ControllerEvent
    expect(event).toMatchObject({ kind: 'namespaces-changed', nsids: [1] })
    await ctrl.close()
  })

  test('is refused while transfers of the namespace are in progress, which complete normally', async () => {
    const delayed: Rule = {
      match: { qid: 1, opcode: 2, lba: [4000, 4000] },
      action: { kind: 'delay-completion', delayNs: 5e8 },
    }
    const ctrl = await open({ faults: [delayed] })
    const ns = ctrl.namespace(1)
    const reading = ns.read(4000, 8, ns.dma.alloc(4096))
    const formatting = ctrl.management.format(1, { lbaFormat: 1 })
    await expect(formatting).rejects.toMatchObject({ code: 'ERR_GPUNVME_NAMESPACE_BUSY' })
    await expect(formatting).rejects.toThrow('1 of its transfers or commands are in progress')
    await reading
    expect(fetched.filter((text) => text.startsWith('Format'))).toEqual([])
    await ctrl.management.format(1, { lbaFormat: 1 })
    await ctrl.close()
  })

  test('is refused, and sends no command, if foreign data are not named in overwrite', async () => {
    const ctrl = await open()
    await partition(ctrl, 1)
    await expect(ctrl.management.format(1, { lbaFormat: 0 })).rejects.toThrow(ForeignDataError)
    expect(fetched.filter((text) => text.startsWith('Format'))).toEqual([])
    await ctrl.management.format(2, { lbaFormat: 0 })
    await ctrl.close()
  })

  test.each([
    ['a format', { FNS: 1 } as const, {}],
    ['a secure erase', { SENS: 1 } as const, { secureErase: 'user-data' } as const],
  ])('searches every namespace if FNA reports that %s applies to all', async (_, FNA, options) => {
    const ctrl = await open({ identify: { FNA } })
    await partition(ctrl, 2)
    await expect(ctrl.management.format(1, { lbaFormat: 0, ...options })).rejects.toThrow('namespace 2')
    await ctrl.close()
  })

  test('rejects options and namespaces that the drive does not have', async () => {
    const ctrl = await open({ identify: { FNA: { CRYES: 0 } } })
    await expect(ctrl.management.format(1, { lbaFormat: 0, secureErase: 'cryptographic' })).rejects.toThrow('FNA.CRYES')
    await expect(ctrl.management.format(1, { lbaFormat: 8 })).rejects.toThrow(
      'lbaFormat: expected one of 0 (512 + 0 bytes), 1 (4096 + 0 bytes)',
    )
    await expect(ctrl.management.format(9, { lbaFormat: 0 })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_NAMESPACE_NOT_FOUND',
    })
    await ctrl.close()
    const without = await open({ identify: { OACS: { NMS: 1 } } })
    await expect(without.management.format(1, { lbaFormat: 0 })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_UNSUPPORTED_COMMAND',
    })
    await without.close()
  })

  test('has an unknown outcome after a lost completion, and is sent once', async () => {
    const ctrl = await open({ faults: [{ match: { opcode: FORMAT }, action: { kind: 'drop-completion' } }] })
    const formatting = ctrl.management.format(1, { lbaFormat: 1, timeoutNs: SECOND_NS })
    await expect(formatting).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNKNOWN_FATE' })
    await expect(formatting).rejects.toThrow('namespace 1')
    expect(fetched.filter((text) => text.startsWith('Format'))).toHaveLength(1)
    // Identified again after the recovery: the format was executed.
    expect(ctrl.namespace(1).blockBytes).toBe(4096)
    await ctrl.close()
  })
})

describe('namespaces', () => {
  test('are created, attached, used, detached and deleted', async () => {
    const ctrl = await open({ overwrite: ['unreadable data'] })
    const { management } = ctrl
    const nsid = await management.createNamespace({ blocks: 2048, lbaFormat: 1 })
    expect(nsid).toBe(3)
    expect(ctrl.namespaces.map((each) => each.nsid)).toEqual([1, 2])
    await management.attach(nsid)
    const ns = ctrl.namespace(3)
    expect([ns.blocks, ns.blockBytes]).toEqual([2048, 4096])
    const memory = ns.dma.alloc(4096)
    fillPattern(memory, 5)
    await ns.write(2047, 1, memory)
    await ns.read(2047, 1, memory)
    expect(wrongBytes(memory, 5)).toBe(0)
    await management.detach(3)
    expect(ctrl.namespaces.map((each) => each.nsid)).toEqual([1, 2])
    await expect(ns.read(0, 1, memory)).rejects.toThrow('no longer attached')
    await management.deleteNamespace(3)
    expect(await management.createNamespace({ blocks: 16 })).toBe(3)
    await ctrl.close()
  })

  test('with foreign or unreadable data are not deleted unless these are named in overwrite', async () => {
    const ctrl = await open()
    await partition(ctrl, 2)
    await expect(ctrl.management.deleteNamespace(2)).rejects.toThrow(ForeignDataError)
    await ctrl.management.detach(1)
    await expect(ctrl.management.deleteNamespace(1)).rejects.toThrow('unreadable data')
    expect(fetched.filter((text) => text.startsWith('Namespace Management'))).toEqual([])
    await ctrl.close()
  })

  test('are created with an unknown outcome after a lost completion', async () => {
    const ctrl = await open({
      faults: [{ match: { opcode: NAMESPACE_MANAGEMENT }, action: { kind: 'drop-completion' } }],
    })
    await expect(ctrl.management.createNamespace({ blocks: 16 })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_UNKNOWN_FATE',
    })
    expect(fetched.filter((text) => text.startsWith('Namespace Management'))).toHaveLength(1)
    await ctrl.close()
  })

  test('are not managed if the controller lacks Namespace Management', async () => {
    const ctrl = await open({ identify: { OACS: { FNVMS: 1 } } })
    await expect(ctrl.management.createNamespace({ blocks: 16 })).rejects.toThrow('OACS.NMS is 0')
    await expect(ctrl.management.attach(2)).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNSUPPORTED_COMMAND' })
    await ctrl.close()
  })

  test.each([0, -1, 0xffff_ffff, 1.5])('are not identified by NSID %d', async (nsid) => {
    const ctrl = await open()
    await expect(ctrl.management.deleteNamespace(nsid)).rejects.toThrow(RangeError)
    await expect(ctrl.management.attach(nsid)).rejects.toThrow(RangeError)
    await ctrl.close()
  })
})

test('setFeature sets dwords and data that getFeature returns', async () => {
  const ctrl = await open()
  await ctrl.management.setFeature(TemperatureThreshold, { CDW11: { TMPTH: 340 } })
  expect((await ctrl.getFeature(TemperatureThreshold)).DW0.TMPTH).toBe(340)
  await ctrl.management.setFeature(Timestamp, { data: { TSTMP: 1_700_000_000_000 } })
  const { data } = await ctrl.getFeature(Timestamp)
  expect(data.TSTMP).toBeGreaterThanOrEqual(1_700_000_000_000)
  expect(data.TSTMP).toBeLessThan(1_700_000_100_000)
  await expect(ctrl.management.setFeature(NumberOfQueues, {})).rejects.toThrow('reserved for the driver')
  await ctrl.close()
})

describe('raw commands', () => {
  test('an Admin command returns DW0, status and data, whether it succeeds or fails', async () => {
    const ctrl = await open()
    const { management } = ctrl
    const memory = management.dma.alloc(4096)
    const found = await management.submitAdmin(Identify, { CNS: 1 }, { data: { memory } })
    expect(found).toEqual({ dw0: 0, status: { sct: 0, sc: 0, dnr: false } })
    expect(IdentifyController.view(memory.view!).SN).toBe(SERIAL)
    const refused = await management.submitAdmin(Identify, { CNS: 0xc7 }, { data: { memory } })
    expect(refused.status).toMatchObject({ sct: 0, sc: 2, dnr: true })
    await ctrl.close()
  })

  test('an Admin command transfers data described by a PRP list', async () => {
    const ctrl = await open()
    const memory = ctrl.management.dma.alloc(65_536)
    memory.view!.setUint8(65_535, 0x5a)
    const values = { NSID: 0xffff_ffff, LID: 2, NUMDL: 16_383 }
    expect((await ctrl.management.submitAdmin(GetLogPage, values, { data: { memory } })).status.sc).toBe(0)
    await expect(ctrl.management.submitAdmin(GetLogPage, values, { data: { memory, offsetBytes: 2 } })).rejects.toThrow(
      'dword-aligned address',
    )
    const large = ctrl.management.dma.alloc(256 * 1024)
    await expect(ctrl.management.submitAdmin(GetLogPage, values, { data: { memory: large } })).rejects.toThrow(
      'expected 1 to 131072 bytes of data',
    )
    await ctrl.close()
  })

  test('an I/O command moves data; one that changes blocks passes the guard', async () => {
    const ctrl = await open()
    const memory = ctrl.management.dma.alloc(4096)
    fillPattern(memory, 1)
    const values = { NSID: 1, SLBA: 800, NLB: zeroBased(8) }
    await ctrl.management.submitIo(Write, values, { data: { memory } })
    const back = ctrl.management.dma.alloc(4096)
    await ctrl.management.submitIo(Read, values, { data: { memory: back } })
    expect(wrongBytes(back, 1)).toBe(0)
    const beyond = await ctrl.management.submitIo(Read, { ...values, SLBA: 1e9 }, { data: { memory: back } })
    expect(beyond.status).toMatchObject({ sct: 0, sc: 0x80 })
    await partition(ctrl, 2)
    await ctrl.close()
    const again = await manage(simulation.transport)
    await expect(
      again.management.submitIo(Write, { ...values, NSID: 2 }, { data: { memory: again.management.dma.alloc(4096) } }),
    ).rejects.toThrow(ForeignDataError)
    await again.close()
  })

  test('a command that may erase data searches all namespaces first, and identifies them again afterwards', async () => {
    const ctrl = await open()
    const { status } = await ctrl.management.submitAdmin(FormatNvm, { NSID: 1, LBAFL: 1 })
    expect(status.sc).toBe(0)
    expect(ctrl.namespace(1).blockBytes).toBe(4096)
    await partition(ctrl, 2)
    await expect(ctrl.management.submitAdmin(FormatNvm, { NSID: 1 })).rejects.toThrow(ForeignDataError)
    await ctrl.close()
  })

  test('commands that are reserved for the driver, or belong to the other queue type, are rejected', async () => {
    const ctrl = await open()
    await expect(ctrl.management.submitAdmin(CreateIoSq, {})).rejects.toThrow('Create I/O Submission Queue')
    await expect(ctrl.management.submitAdmin(Read, {})).rejects.toThrow('use submitIo()')
    await expect(ctrl.management.submitIo(KeepAlive, {})).rejects.toThrow('use submitAdmin()')
    await ctrl.close()
  })
})

test('a closed handle rejects calls as closed, before any check of the data', async () => {
  const ctrl = await open()
  await ctrl.close()
  const { management } = ctrl
  for (const call of [
    management.format(1, { lbaFormat: 0 }),
    management.deleteNamespace(1),
    management.submitAdmin(FormatNvm, { NSID: 1 }),
  ])
    await expect(call).rejects.toMatchObject({ code: 'ERR_GPUNVME_CONTROLLER_CLOSED' })
})

test('deleteNamespace of an NSID that is not allocated lists the allocated ones', async () => {
  const ctrl = await open()
  const refusal = ctrl.management.deleteNamespace(7)
  await expect(refusal).rejects.toMatchObject({ code: 'ERR_GPUNVME_NAMESPACE_NOT_FOUND' })
  await expect(refusal).rejects.toThrow('allocated: 1, 2')
  await ctrl.close()
})

test('the error of a read from a detached namespace suggests attach()', async () => {
  const ctrl = await open()
  const ns = ctrl.namespace(2)
  await ctrl.management.detach(2)
  await expect(ns.readBytes(0, 4)).rejects.toThrow('management.attach(2)')
  await ctrl.management.attach(2)
  await ns.readBytes(0, 4)
  await ctrl.close()
})

test('rejects format of a namespace that was detached while it was identified', async () => {
  // It is detached between the list of active namespaces and its Identify data, which are all zeros then.
  const rule = { match: { qid: 0, opcode: 6, nsid: 1 }, action: { kind: 'detach-namespace', nsid: 1 } } as const
  const { transport, serial } = simulate({ namespaces: [{ capacityBytes: 64 * 4096 }], faults: { rules: [rule] } })
  const ctrl = await Controller.open(transport, { write: { serial }, manage: true })
  expect(ctrl.namespace(1).blocks).toBe(0)
  await expect(ctrl.management.format(1, { lbaFormat: 0 })).rejects.toMatchObject({
    code: 'ERR_GPUNVME_NAMESPACE_NOT_FOUND',
  })
})
