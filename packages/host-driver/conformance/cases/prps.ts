import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { DriverCase } from '../case.js'
import { check, equal, notApplicable } from '../check.js'
import { checkData, checkUntouched, clearData, fillData, scatteredMemory } from '../data.js'
import { area, MIB, store, withoutAWrite } from './support.js'

// Offset in the page, length and expected description, from test/unit/lib/nvme/nvme_pcie.c of SPDK.
const VECTORS = [
  [0x000, 0x0200, 'PRP1 alone'],
  [0x000, 0x1000, 'PRP1 alone'],
  [0x800, 0x1000, 'PRP1 and PRP2'],
  [0x000, 0x2000, 'PRP1 and PRP2'],
  [0x800, 0x2000, 'a list of two'],
  [0x000, 0x3000, 'a list of two'],
  [0x800, 0x3000, 'a list of three'],
  [0x004, 0x1000, 'PRP1 and PRP2, at the first dword after the page begins'],
  [0xffc, 0x1000, 'PRP1 and PRP2, one dword before the page ends'],
  [0xffc, 0x2000, 'a list of two, one dword before the page ends'],
] as const

/** Data pointers: PRPs, or SGLs if the controller supports them. */
const SPEC = 'Base 2.1 §4.1.1, Figure 110; SPDK nvme_pcie'

/** PRPs for data of all alignments, and their alternatives. */
export const prpCases: readonly DriverCase[] = [
  ...VECTORS.map(([offset, length, described]): DriverCase => ({
    id: `prp-${offset.toString(16).padStart(3, '0')}-${length.toString(16)}`,
    title: `Describes ${length.toString(16)}h bytes at ${offset.toString(16)}h of a page by ${described}`,
    spec: SPEC,
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, lba, alloc, device } = opened
      if (length < ns.blockBytes) notApplicable(`a block has ${ns.blockBytes} bytes`)
      await store(opened, length / ns.blockBytes, 40)
      const memory = alloc(0x6000)
      clearData(memory)
      await ns.read(lba, length / ns.blockBytes, memory, { offsetBytes: offset })
      checkUntouched(memory, 0, offset)
      checkData(memory, 40, 0, offset, length)
      checkUntouched(memory, offset + length, 0x6000 - offset - length)
      if (!device.observesPlans) return
      const text = device.commands.findLast((command) => command.text.startsWith('Read'))!.text
      if (text.includes('SGL')) return
      equal('PRP2 is used', text.includes('PRP2='), (offset % 0x1000) + length > 0x1000)
    },
  })),
  {
    id: 'prp-write-from-an-offset',
    title: 'Writes from and reads to any dword address',
    spec: SPEC,
    time: 'any',
    async run(context) {
      const { ns, lba, alloc } = await context.open()
      const length = 0x3000
      const memory = alloc(0x5000)
      for (const offset of [0x000, 0x004, 0x7fc, 0xffc]) {
        fillData(memory, offset, 0, offset, length)
        await ns.write(lba, length / ns.blockBytes, memory, { offsetBytes: offset })
        clearData(memory)
        await ns.read(lba, length / ns.blockBytes, memory)
        checkData(memory, offset, 0, 0, length)
      }
    },
  },
  ...(
    [
      ['two-places', [0, 8], 0],
      ['backwards', [9, 7, 5, 3, 1], 0],
      ['runs', [4, 5, 6, 0, 1, 9, 10], 0],
      ['from-an-offset', [6, 2, 4], 0x800],
    ] as const
  ).map(([id, order, offset]): DriverCase => ({
    id: `prp-scattered-${id}`,
    title: `Reads into scattered pages, in this order: ${order.join(', ')}`,
    spec: SPEC,
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, lba } = opened
      const length = order.length * 0x1000 - (offset === 0 ? 0 : 0x1000)
      await store(opened, length / ns.blockBytes, 50)
      const memory = scatteredMemory(ns.dma, order)
      try {
        clearData(memory.whole)
        await ns.read(lba, length / ns.blockBytes, memory, { offsetBytes: offset })
        order.forEach((page, index) => {
          const from = Math.max(index * 0x1000, offset)
          const to = Math.min((index + 1) * 0x1000, offset + length)
          checkData(memory.whole, 50, from - offset, page * 0x1000 + (from % 0x1000), to - from)
        })
        checkUntouched(memory.whole, 0, order.includes(0 as never) ? offset : 0x1000)
      } finally {
        memory.free()
      }
    },
  })),
  {
    id: 'prp-broken-inside-a-page',
    title: 'Describes memory that ends inside a page by an SGL; without SGLs, rejects it and submits nothing',
    spec: SPEC,
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, ctrl, lba, device } = opened
      await store(opened, 4096 / ns.blockBytes, 51)
      const memory = scatteredMemory(ns.dma, [0, 4])
      const [first, second] = memory.segments
      const broken: DmaMemory = {
        ...memory,
        segments: [
          { ...first!, lengthBytes: 2048 },
          { ...second!, offsetBytes: 2048 },
        ],
        lengthBytes: 2048 + 4096,
        iovaAt: (offset) => (offset < 2048 ? first!.iova + offset : second!.iova + offset - 2048),
      }
      try {
        clearData(memory.whole)
        const read = () => ns.read(lba, 4096 / ns.blockBytes, broken)
        const isRefused = () => context.expectRejected('read', read, { type: 'RangeError', says: 'page' })
        if (ctrl.identity.sgl === undefined) {
          await withoutAWrite(device, isRefused)
          return
        }
        try {
          await read()
        } catch (error) {
          // Other engines need not use SGLs.
          if (device.observesPlans) throw error
          await isRefused()
          return
        }
        checkData(memory.whole, 51, 0, 0, 2048)
        checkUntouched(memory.whole, 2048, 4 * 0x1000 - 2048)
        checkData(memory.whole, 51, 2048, 4 * 0x1000, 2048)
      } finally {
        memory.free()
      }
    },
  },
  ...[1, 2, 3].map((offset): DriverCase => ({
    id: `prp-byte-${offset}`,
    title: `Rejects an address that is not a multiple of 4 (${offset}); submits nothing`,
    spec: SPEC,
    time: 'any',
    async run(context) {
      const { ns, lba, device, alloc } = await context.open()
      const memory = alloc(0x2000)
      const read = () => ns.read(lba, 1, memory, { offsetBytes: offset })
      await withoutAWrite(device, () => context.expectRejected('read', read, { type: 'RangeError', says: 'aligned' }))
    },
  })),
  {
    id: 'prp-list-of-a-page',
    title: 'Describes data by a PRP list that fills its page, and by one that continues in another page',
    spec: 'Base 2.1 §4.1.1; propolis',
    time: 'any',
    needs: { mdts: 10 },
    async run(context) {
      const opened = await context.open({ maxTransferBytes: 4 * MIB })
      const { ns, lba, alloc } = opened
      if (lba * ns.blockBytes < 8 * MIB) notApplicable('the namespace is too small')
      // PRP1 describes one page and a list page 512. One page more needs a second list page, to which the last entry of
      // the first list page points.
      for (const pages of [513, 514, 1000]) {
        const blocks = (pages * 4096) / ns.blockBytes
        const memory = alloc(pages * 4096)
        fillData(memory, pages)
        await ns.write(lba, blocks, memory)
        clearData(memory)
        await ns.read(lba, blocks, memory)
        checkData(memory, pages)
      }
      if (opened.device.observesPlans) check(opened.device.countOf('Write') === 3, 'each transfer is one command')
    },
  },
]

export const prps = area('PRPs and alignment', prpCases)
