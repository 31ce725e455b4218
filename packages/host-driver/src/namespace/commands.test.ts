import { deriveProfile, simulate, type DriveProfile, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { fillPattern, wrongBytes } from '../../test/pattern.js'
import { CommandError } from '../commands/errors.js'
import { Controller } from '../controller.js'
import { ForeignDataError } from '../guard/guard.js'
import type { ControllerOptions } from '../running/open-options.js'
import { BlockCommandError } from './changes.js'
import type { WritableNamespace } from './writable-namespace.js'

const MIB = 1024 * 1024
const SECOND_NS = 1_000_000_000
const SERIAL = 'SIM00001'
// NVM 1.2 Figure 20.
const [COMPARE, WRITE_ZEROES, DATASET_MANAGEMENT, VERIFY, COPY] = [0x05, 0x08, 0x09, 0x0c, 0x19] as const

let simulation: ReturnType<typeof simulate>
/** I/O commands in the order of their fetch, formatted as text; counts are 0's based, as in the entry. */
let fetched: string[]

afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

interface Setup {
  readonly identify?: DriveProfile['identify']
  readonly faults?: readonly { readonly match: FaultMatch; readonly action: FaultAction }[]
  readonly simulated?: SimulationOptions
  readonly options?: Omit<ControllerOptions, 'engine'>
}

async function open({ identify = {}, faults = [], simulated, options }: Setup = {}) {
  fetched = []
  simulation = simulate({
    profile: deriveProfile('ideal', { identify: { SN: SERIAL, ...identify } }),
    namespaces: [{ capacityBytes: 64 * MIB }],
    faults: { rules: faults },
    trace: ({ name, command }) => {
      if (name === 'fetch' && command!.qid > 0) fetched.push(command!.text)
    },
    ...simulated,
  })
  const ctrl = await Controller.open(simulation.transport, {
    commandTimeoutNs: SECOND_NS,
    write: { serial: SERIAL },
    ...options,
  })
  return { ctrl, ns: ctrl.namespace(1) }
}

/** Writes the pattern, position 0, to these blocks. */
async function writePattern(ns: WritableNamespace, slba: number, blocks: number): Promise<void> {
  const memory = ns.dma.alloc(blocks * 512)
  fillPattern(memory, 0)
  await ns.write(slba, blocks, memory)
  fetched = []
}

async function contentOf(ns: WritableNamespace, slba: number, blocks: number) {
  const memory = ns.dma.alloc(blocks * 512)
  await ns.read(slba, blocks, memory)
  return memory
}

describe('verify', () => {
  test('sends one command for up to 65536 blocks, the limit of NLB', async () => {
    const { ns } = await open()
    await ns.verify(0, 65_537)
    expect(fetched).toEqual([
      expect.stringMatching(/^Verify .*SLBA=0x0 .*NLB=65535/),
      expect.stringMatching(/^Verify .*SLBA=0x10000 .*NLB=0\b/),
    ])
  })

  test('ends with the status of the command whose block cannot be read', async () => {
    const { ns } = await open({
      faults: [{ match: { qid: 2, opcode: VERIFY }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } }],
    })
    await expect(ns.verify(7, 1)).rejects.toMatchObject({ name: 'CommandError', sct: 2, sc: 0x81 })
  })

  test('is sent again after a lost completion', async () => {
    const { ctrl, ns } = await open({
      faults: [{ match: { qid: 2, opcode: VERIFY, nth: 1 }, action: { kind: 'drop-completion' } }],
    })
    await ns.verify(0, 8)
    expect(fetched).toHaveLength(2)
    expect(ctrl.statistics.timeouts).toBe(1)
  })
})

describe('compare', () => {
  test('returns whether the blocks equal the memory', async () => {
    const { ns } = await open()
    await writePattern(ns, 100, 16)
    const memory = ns.dma.alloc(16 * 512)
    fillPattern(memory, 0)
    expect(await ns.compare(100, 16, memory)).toBe(true)
    memory.view!.setUint8(16 * 512 - 1, memory.view!.getUint8(16 * 512 - 1) ^ 1)
    expect(await ns.compare(100, 16, memory)).toBe(false)
    expect(await ns.compare(100, 15, memory)).toBe(true)
    expect(await ns.compare(101, 14, memory, { offsetBytes: 512 })).toBe(true)
  })

  test('is split by MDTS, and ends with the first command that differs', async () => {
    // MDTS 5: 2 ^ 5 pages of 4 KiB, which are 256 blocks.
    const { ns } = await open({ identify: { MDTS: 5 } })
    await writePattern(ns, 0, 1024)
    const memory = ns.dma.alloc(1024 * 512)
    fillPattern(memory, 0)
    expect(await ns.compare(0, 1024, memory)).toBe(true)
    expect(fetched).toHaveLength(4)
    fetched = []
    memory.view!.setUint8(300 * 512, memory.view!.getUint8(300 * 512) ^ 0x80)
    expect(await ns.compare(0, 1024, memory)).toBe(false)
    expect(fetched.map((text) => /SLBA=(\w+)/.exec(text)?.[1])).toEqual(['0x0', '0x100'])
  })

  test('sends one command for the maximum transfer, at any offset in a page', async () => {
    const { ns } = await open({ options: { maxTransferBytes: MIB } })
    await writePattern(ns, 0, 2048)
    const memory = ns.dma.alloc(MIB + 4096)
    const inside = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, memory.lengthBytes)
    const pattern = await contentOf(ns, 0, 2048)
    inside.set(new Uint8Array(pattern.view!.buffer, pattern.view!.byteOffset, MIB), 516)
    fetched = []
    expect(await ns.compare(0, 2048, memory, { offsetBytes: 516 })).toBe(true)
    expect(fetched).toEqual([expect.stringContaining('NLB=2047')])
  })

  test('rejects memory that is too small or misaligned, and sends nothing', async () => {
    const { ns } = await open()
    const memory = ns.dma.alloc(4096)
    await expect(ns.compare(0, 9, memory)).rejects.toThrow('compare: expected memory that holds bytes 0 to 4608')
    await expect(ns.compare(0, 7, memory, { offsetBytes: 2 })).rejects.toThrow('dword-aligned address')
    expect(fetched).toEqual([])
  })

  test('throws for any other status', async () => {
    const { ns } = await open({
      faults: [{ match: { qid: 2, opcode: COMPARE }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } }],
    })
    await expect(ns.compare(0, 1, ns.dma.alloc(512))).rejects.toThrow(CommandError)
  })
})

describe('writeZeroes', () => {
  test.each([{}, { deallocate: true }, { fua: true }])(
    'clears these blocks and no others, with %o',
    async (options) => {
      const { ns } = await open()
      await writePattern(ns, 10, 30)
      await ns.writeZeroes(20, 10, options)
      const found = await contentOf(ns, 10, 30)
      expect(wrongBytes(found, 0, 0, 10 * 512)).toBe(0)
      expect(wrongBytes(found, 20 * 512, 20 * 512)).toBe(0)
      expect(new Uint8Array(found.view!.buffer, found.view!.byteOffset + 5120, 5120).every((byte) => byte === 0)).toBe(
        true,
      )
    },
  )

  test('sets Deallocate (DEAC) and Force Unit Access if requested', async () => {
    const { ns } = await open()
    await writePattern(ns, 0, 1)
    await ns.writeZeroes(0, 65_537, { deallocate: true, fua: true })
    expect(fetched).toEqual([
      expect.stringMatching(/SLBA=0x0 NLB=65535 .*DEAC=1.*FUA=1/),
      expect.stringMatching(/SLBA=0x10000 NLB=0 .*DEAC=1.*FUA=1/),
    ])
    fetched = []
    await ns.writeZeroes(5, 1)
    expect(fetched).toEqual([expect.not.stringMatching(/DEAC|FUA/)])
  })

  test('reports an unknown outcome with its blocks after a lost completion, and sends nothing twice', async () => {
    const { ns } = await open({
      faults: [{ match: { qid: 2, opcode: WRITE_ZEROES, nth: 2 }, action: { kind: 'drop-completion' } }],
    })
    await writePattern(ns, 0, 1)
    const error = await ns.writeZeroes(0, 100_000).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNKNOWN_FATE', category: 'device' })
    expect((error as Error).message).toContain('LBAs 0x10000 to 0x1869f')
    expect((error as Error).message).toContain('65536 of 100000 blocks were completed before it')
    expect(fetched).toHaveLength(2)
    await ns.writeZeroes(0, 100_000)
  })

  test('the error of a failed command states the progress of the call', async () => {
    const { ns } = await open({
      faults: [
        { match: { qid: 2, opcode: WRITE_ZEROES, nth: 2 }, action: { kind: 'status', sct: 1, sc: 0x82, dnr: true } },
      ],
    })
    const error = await ns.writeZeroes(0, 100_000).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(BlockCommandError)
    expect(error).toMatchObject({ sct: 1, sc: 0x82, doneBlocks: 65_536, ranges: [{ slba: 65_536, blocks: 34_464 }] })
  })

  test('awaits the command in flight after an abort, and sends no other', async () => {
    const { ns } = await open()
    await writePattern(ns, 0, 1)
    const abort = new AbortController()
    const work = ns.writeZeroes(0, 131_072, { signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(work).rejects.toThrow('enough')
    expect(fetched.length).toBeLessThan(2)
  })
})

describe('deallocate', () => {
  test('deallocates every range, and no other block', async () => {
    const { ns } = await open()
    await writePattern(ns, 0, 64)
    await ns.deallocate([
      { slba: 8, blocks: 8 },
      { slba: 32, blocks: 1 },
    ])
    expect(fetched).toEqual([expect.stringMatching(/^Dataset Management .*NR=1 AD=1/)])
    const found = await contentOf(ns, 0, 64)
    const zeroes = [8, 9, 10, 11, 12, 13, 14, 15, 32]
    for (let block = 0; block < 64; block++) {
      const bytes = new Uint8Array(found.view!.buffer, found.view!.byteOffset + block * 512, 512)
      expect(bytes.every((byte) => byte === 0)).toBe(zeroes.includes(block))
    }
  })

  test('puts at most 256 ranges into a command', async () => {
    const { ns } = await open()
    await writePattern(ns, 0, 1)
    await ns.deallocate(Array.from({ length: 300 }, (_, index) => ({ slba: index * 2, blocks: 1 })))
    expect(fetched.map((text) => /NR=(\d+)/.exec(text)?.[1])).toEqual(['255', '43'])
  })

  test('reports an unknown outcome after a lost completion', async () => {
    const { ns } = await open({
      faults: [{ match: { qid: 2, opcode: DATASET_MANAGEMENT }, action: { kind: 'drop-completion' } }],
    })
    await expect(ns.deallocate([{ slba: 3, blocks: 4 }])).rejects.toThrow('LBAs 0x3 to 0x6')
  })
})

describe('copy', () => {
  test('copies the sources one after another to the destination', async () => {
    const { ns } = await open()
    await writePattern(ns, 0, 64)
    await ns.copy(
      [
        { slba: 10, blocks: 4 },
        { slba: 2, blocks: 2 },
      ],
      1000,
    )
    expect(fetched).toEqual([expect.stringMatching(/^Copy .*SDLBA=0x3e8 NR=1/)])
    const found = await contentOf(ns, 999, 8)
    expect(found.view!.getUint32(0)).toBe(0)
    expect(wrongBytes(found, 10 * 512, 512, 4 * 512)).toBe(0)
    expect(wrongBytes(found, 2 * 512, 5 * 512, 2 * 512)).toBe(0)
    expect(found.view!.getUint32(7 * 512)).toBe(0)
  })

  test('is split by MSSRL, MCL and MSRC of the namespace', async () => {
    // Limits of the simulator: 2048 blocks in a range, 16384 blocks and 128 ranges in a command.
    const { ns } = await open()
    await writePattern(ns, 0, 2048)
    await ns.copy([{ slba: 0, blocks: 20_000 }], 40_000)
    expect(fetched).toEqual([
      expect.stringMatching(/SDLBA=0x9c40 NR=7\b/),
      expect.stringMatching(/SDLBA=0xdc40 NR=1\b/),
    ])
    expect(wrongBytes(await contentOf(ns, 40_000, 2048), 0)).toBe(0)
    fetched = []
    await ns.copy(
      Array.from({ length: 130 }, () => ({ slba: 5, blocks: 1 })),
      50_000,
    )
    expect(fetched.map((text) => /NR=(\d+)/.exec(text)?.[1])).toEqual(['127', '1'])
  })

  test('rejects a source that overlaps the destination, and sends nothing', async () => {
    const { ns } = await open()
    await expect(ns.copy([{ slba: 0, blocks: 10 }], 9)).rejects.toThrow(
      'expected sources outside of the destination, LBAs 0x9 to 0x12, got LBAs 0x0 to 0x9',
    )
    await ns.copy([{ slba: 0, blocks: 10 }], 10)
  })

  test('reports an unknown outcome after a lost completion', async () => {
    const { ns } = await open({ faults: [{ match: { qid: 2, opcode: COPY }, action: { kind: 'drop-completion' } }] })
    await expect(ns.copy([{ slba: 0, blocks: 1 }], 9)).rejects.toThrow('LBAs 0x9 to 0x9')
  })
})

describe.each<[string, (ns: WritableNamespace, slba: number, blocks: number) => Promise<unknown>]>([
  ['verify', (ns, slba, blocks) => ns.verify(slba, blocks)],
  ['compare', (ns, slba, blocks) => ns.compare(slba, blocks, ns.dma.alloc(4096))],
  ['writeZeroes', (ns, slba, blocks) => ns.writeZeroes(slba, blocks)],
  ['deallocate', (ns, slba, blocks) => ns.deallocate([{ slba, blocks }])],
  ['copy', (ns, slba, blocks) => ns.copy([{ slba, blocks }], 5000)],
])('%s', (_, run) => {
  test('rejects blocks outside the namespace, and no blocks, and sends nothing', async () => {
    const { ns } = await open()
    await expect(run(ns, ns.blocks - 1, 2)).rejects.toMatchObject({ code: 'ERR_GPUNVME_LBA_RANGE' })
    await expect(run(ns, 0, 0)).rejects.toThrow('at least 1 block, got SLBA 0, 0 blocks')
    await expect(run(ns, -1, 1)).rejects.toThrow(RangeError)
    await expect(run(ns, 0.5, 1)).rejects.toThrow(RangeError)
    expect(fetched).toEqual([])
  })

  test('rejects a controller without the command by name, and sends nothing', async () => {
    const ONCS = { NVMCMPS: 0, NVMDSMSV: 0, NVMWZSV: 0, NVMVFYS: 0, NVMCPYS: 0 } as const
    const { ns } = await open({ identify: { ONCS } })
    const error = await run(ns, 0, 1).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNSUPPORTED_COMMAND' })
    expect((error as Error).message).toMatch(
      /^This controller does not support (Verify|Compare|Write Zeroes|Dataset Man|Copy)/,
    )
    expect(fetched.filter((text) => !text.startsWith('Read'))).toEqual([])
  })
})

test.each<[string, (ns: WritableNamespace) => Promise<unknown>]>([
  ['writeZeroes', (ns) => ns.writeZeroes(0, 1)],
  ['deallocate', (ns) => ns.deallocate([{ slba: 0, blocks: 1 }])],
  ['copy', (ns) => ns.copy([{ slba: 0, blocks: 1 }], 9)],
])('%s passes the guard first, and is not sent if the guard rejects it', async (_, run) => {
  const { ctrl, ns } = await open()
  // A boot sector: 55h AAh at 510, and a partition of type 83h.
  const sector = ns.dma.alloc(512)
  sector.view!.setUint16(510, 0x55aa)
  sector.view!.setUint8(446 + 4, 0x83)
  sector.view!.setUint32(446 + 12, 8, true)
  await ns.write(0, 1, sector)
  await ctrl.close()
  fetched = []
  await using again = await Controller.open(simulation.transport, { write: { serial: SERIAL } })
  await expect(run(again.namespace(1))).rejects.toThrow(ForeignDataError)
  expect(fetched.every((text) => text.startsWith('Read'))).toBe(true)
})
