import { randomStream } from '@gpunvme/nvme-spec/faults'
import type { DriverCase } from '../case.js'
import { allSucceeded, check, equal, notApplicable } from '../check.js'
import { checkData, checkUntouched, clearData, fillData } from '../data.js'
import { area, MIB, readPlan, roundTrip, store } from './support.js'

const TERABYTE = 2 ** 40

/** Locations of the blocks and bytes that calls read and write. */
export const transferCases: readonly DriverCase[] = [
  ...(
    [
      ['first', () => 0],
      ['last', (blocks: number) => blocks - 1],
    ] as const
  ).map(([which, at]): DriverCase => ({
    id: `${which}-block`,
    title: `Writes and reads the ${which} block of a namespace`,
    spec: 'NVM 1.2 §3.3.4',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      await roundTrip(opened, 1, 6, at(opened.ns.blocks))
    },
  })),
  {
    id: 'neighbours',
    title: 'Changes only the blocks that a write names',
    spec: 'NVM 1.2 §3.3.6',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, lba } = opened
      const memory = await store(opened, 9, 1)
      fillData(memory, 2)
      await ns.write(lba + 3, 4, memory)
      clearData(memory)
      await ns.read(lba, 9, memory)
      const bytes = ns.blockBytes
      checkData(memory, 1, 0, 0, 3 * bytes)
      checkData(memory, 2, 0, 3 * bytes, 4 * bytes)
      checkData(memory, 1, 7 * bytes, 7 * bytes, 2 * bytes)
    },
  },
  {
    id: 'lba-above-32-bits',
    title: 'Addresses LBAs from 2^32 on, and ranges across 2^32',
    spec: 'NVM 1.2 Figure 32; AGILE',
    time: 'any',
    needs: { namespaces: [{ nsid: 1, blockBytes: 512, minBytes: 3 * TERABYTE }] },
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 4096 })
      await store(opened, 16, 1, 8)
      await roundTrip(opened, 64, 2, 2 ** 32 - 32)
      await roundTrip(opened, 16, 3, 2 ** 32 + 8)
      const memory = opened.alloc(16 * 512)
      await opened.ns.read(8, 16, memory)
      checkData(memory, 1)
    },
  },
  ...[512, 4096].map((blockBytes): DriverCase => ({
    id: `blocks-of-${blockBytes}`,
    title: `Reads and writes blocks of ${blockBytes} bytes`,
    spec: 'NVM 1.2 §4.1.5.1; AGILE',
    time: 'any',
    needs: { namespaces: [{ blockBytes }] },
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 16_384 })
      equal('block size', opened.ns.blockBytes, blockBytes)
      await roundTrip(opened, 1, 1)
      await roundTrip(opened, 77, 2, opened.lba + 5)
    },
  })),
  {
    id: 'random-blocks',
    title: 'Returns the last data written to each block, with random reads and writes on four queues',
    spec: 'libnvm #25; seeded',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queues: 4, queueDepth: 9, maxTransferBytes: 8192 })
      const { ns, lba } = opened
      const random = randomStream(11, 'random-blocks')
      const whole = (below: number) => Math.floor(random() * below)
      /** Last write to each block, and the first block of that write. */
      const holds = new Map<number, { round: number; first: number }>()
      const memory = opened.alloc(64 * ns.blockBytes)
      clearData(memory)
      await ns.write(lba, 64, memory)
      for (let round = 1; round <= 40; round++) {
        const [first, count] = [whole(56), 1 + whole(8)]
        fillData(memory, round, 0, 0, count * ns.blockBytes)
        await ns.write(lba + first, count, memory)
        for (let block = first; block < first + count; block++) holds.set(block, { round, first })
        clearData(memory)
        allSucceeded('reads', await ns.execute(readPlan(ns, lba, 64), memory))
        for (const [block, last] of holds) {
          const position = (block - last.first) * ns.blockBytes
          checkData(memory, last.round, position, block * ns.blockBytes, ns.blockBytes)
        }
      }
    },
  },
  {
    id: 'read-bytes',
    title: 'Reads byte ranges that begin and end anywhere in a block',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, lba } = opened
      const memory = opened.alloc(32 * ns.blockBytes)
      fillData(memory, 8)
      await ns.write(lba, 32, memory)
      const wanted = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, memory.lengthBytes)
      const start = lba * ns.blockBytes
      for (const [from, length] of [
        [0, 1],
        [1, 511],
        [511, 2],
        [ns.blockBytes - 1, 2],
        [4095, 4098],
        [3, 8000],
      ] as const) {
        const got = await ns.readBytes(start + from, length)
        equal(`bytes ${from} to ${from + length}`, Buffer.compare(got, wanted.subarray(from, from + length)), 0)
      }
      equal('no bytes', (await ns.readBytes(start, 0)).length, 0)
    },
  },
  {
    id: 'place-in-memory',
    title: 'A read changes only its part of the memory',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, lba } = opened
      await store(opened, 4, 7)
      const size = 4 * ns.blockBytes
      const memory = opened.alloc(3 * size)
      clearData(memory)
      await ns.read(lba, 4, memory, { offsetBytes: size })
      checkUntouched(memory, 0, size)
      checkData(memory, 7, 0, size, size)
      checkUntouched(memory, 2 * size, size)
    },
  },
  {
    id: 'flush',
    title: 'Keeps written data over a flush, a shutdown and a restart',
    spec: 'NVM 1.2 §3.3.2; Base 2.1 §3.6.1',
    time: 'any',
    async run(context) {
      const first = await context.open()
      await store(first, 64, 21)
      await first.ns.flush()
      await first.ctrl.close()
      const second = await context.open({}, undefined, first.device)
      const memory = second.alloc(64 * second.ns.blockBytes)
      await second.ns.read(second.lba, 64, memory)
      checkData(memory, 21)
    },
  },
  {
    id: 'out-of-order',
    title: 'Credits completions in any order, with eight commands in flight',
    spec: 'Base 2.1 §3.3.1.2; a driver that polled for one CID discarded others',
    time: 'any',
    async run(context) {
      const opened = await context.open({ queueDepth: 8 })
      const { ns, lba } = opened
      const memory = await store(opened, 1024, 12)
      // Long and short transfers alternate, so that short ones may complete first.
      const transfers = []
      for (let at = 0, turn = 0; at < 1024; turn++) {
        const blocks = turn % 2 === 0 ? 1 : 63
        transfers.push({ slba: lba + at, blocks, offsetBytes: at * ns.blockBytes })
        at += blocks
      }
      allSucceeded('reads', await ns.execute(ns.planReads(transfers), memory))
      checkData(memory, 12)
    },
  },
  {
    id: 'mdts-exactly',
    title: 'Sends a transfer of exactly MDTS as one command',
    spec: 'Base 2.1 §5.1.13.2.1, MDTS; SPDK ns_cmd',
    time: 'any',
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 64 * MIB })
      const { ns, ctrl, device } = opened
      const limit = ctrl.identity.maxTransferBytes
      if (limit === undefined || limit > 4 * MIB) return notApplicable('MDTS is 0, or above 4 MiB')
      equal('maxTransferBytes', ctrl.maxTransferBytes, limit)
      const before = device.countOf('Read')
      const memory = await store(opened, limit / ns.blockBytes, 2)
      const guarded = device.countOf('Read') - before
      await ns.read(opened.lba, limit / ns.blockBytes, memory)
      checkData(memory, 2)
      if (!device.observesPlans) return
      equal('Read commands', device.countOf('Read') - before - guarded, 1)
      equal('Write commands', device.countOf('Write'), 1)
    },
  },
  {
    id: 'mdts-and-a-block',
    title: 'Sends a transfer of MDTS plus one block as two commands',
    spec: 'Base 2.1 §5.1.13.2.1, MDTS; SPDK ns_cmd',
    time: 'any',
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 64 * MIB })
      const { ns, ctrl, device } = opened
      const limit = ctrl.identity.maxTransferBytes
      if (limit === undefined || limit > 4 * MIB) return notApplicable('MDTS is 0, or above 4 MiB')
      const blocks = limit / ns.blockBytes + 1
      const memory = await store(opened, blocks, 3)
      if (device.observesPlans) equal('Write commands', device.countOf('Write'), 2)
      await ns.read(opened.lba, blocks, memory)
      checkData(memory, 3)
    },
  },
  {
    id: 'mdts-of-8-kib',
    title: 'Moves at most two pages per command with MDTS = 1',
    spec: 'Base 2.1 §5.1.13.2.1, MDTS',
    time: 'any',
    needs: { mdts: 1 },
    async run(context) {
      const opened = await context.open()
      equal('maxTransferBytes', opened.ctrl.maxTransferBytes, 8192)
      const before = opened.device.countOf('Write')
      await roundTrip(opened, (100 * 1024) / opened.ns.blockBytes)
      if (opened.device.observesPlans) equal('Write commands', opened.device.countOf('Write') - before, 13)
    },
  },
  {
    id: 'mdts-none',
    title: 'Splits a transfer by the limit of the host and by NLB with MDTS = 0',
    spec: 'Base 2.1 §5.1.13.2.1, MDTS; NVM 1.2 Figure 33',
    time: 'virtual',
    needs: { mdts: 0, namespaces: [{ nsid: 1, blockBytes: 512, minBytes: 256 * MIB }] },
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 64 * MIB })
      equal('MDTS', opened.ctrl.identity.maxTransferBytes, undefined)
      // NLB covers at most 65,536 blocks, which are 32 MiB.
      await roundTrip(opened, 65_536 + 1)
      if (opened.device.observesPlans) equal('Write commands', opened.device.countOf('Write'), 2)
    },
  },
  {
    id: 'transfer-limit-of-the-host',
    title: 'Moves at most maxTransferBytes per command, if that is below MDTS',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 4096 })
      await roundTrip(opened, (65 * 1024) / opened.ns.blockBytes || 1)
      const commands = Math.ceil((65 * 1024) / 4096)
      if (!opened.device.observesPlans) return
      check(opened.device.countOf('Write') >= commands, `at least ${commands} commands`)
    },
  },
]

export const transfers = area('transfers', transferCases)
