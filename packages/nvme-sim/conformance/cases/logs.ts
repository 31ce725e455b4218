import { activeNamespaces, askLog, getFeature, needsVersion, readLog } from '../admin.js'
import { blockCommand, filledWith, firstSpace, sameBytes, withPrps } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, equal, fail, notApplicable, oneOf, status, success } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks, needsPairs, prps } from '../io.js'

const SUPPORTED = 0x00
const ERRORS = 0x01
const SMART = 0x02
const FIRMWARE = 0x03
const EFFECTS = 0x05
const FEATURES = 0x12

const isRefusedLog = ['1/09', '0/02'] as const

const needsOffset = ({ lpa }: ControllerFacts) => ((lpa & 4) !== 0 ? undefined : 'LPA bit 2 is 0: no log page offset')

const needsEffects = ({ lpa }: ControllerFacts) =>
  (lpa & 2) !== 0 ? undefined : 'LPA bit 1 is 0: no Commands Supported and Effects log page'

const bytesOf = (view: DataView) => new Uint8Array(view.buffer)

/** Returns the counters of SMART / Health Information: the low 64 of their 128 bits. */
async function counters(host: CaseHost) {
  const view = await readLog(host, SMART, 512)
  const at = (offset: number) => view.getBigUint64(offset, true)
  return { unitsRead: at(32), unitsWritten: at(48), reads: at(64), writes: at(80), errors: at(176) }
}

/** Reads or writes `units` times 512 bytes from block 0; returns the number of commands. */
async function moveUnits(host: CaseHost, opcode: number, units: number): Promise<number> {
  const { blockBytes, blocks, nsid } = firstSpace(host)
  const total = (units * 512) / blockBytes
  const step = Math.max(1, Math.min(total, Math.floor(Math.min(131_072, host.facts.maxTransferBytes) / blockBytes)))
  if (step > blocks) notApplicable(`namespace 1 has ${blocks} blocks`)
  const memory = host.alloc(step * blockBytes)
  memory.fillPattern(3)
  const lists = new Map<number, readonly [number, number]>()
  let commands = 0
  for (let left = total; left > 0; left -= step) {
    const count = Math.min(step, left)
    if (!lists.has(count)) lists.set(count, prps(host, memory, 0, count * blockBytes))
    success(await host.command(1, withPrps(blockCommand(opcode, nsid, 0, count), lists.get(count)!)))
    commands++
  }
  return commands
}

/** A read past the end, which fails with a known SQID, CID and status. */
function badRead(host: CaseHost, cid: number) {
  const { blocks, nsid } = firstSpace(host)
  return { ...withPrps(blockCommand(0x02, nsid, blocks, 1), [host.alloc(host.facts.blockBytes).iova(), 0]), cid }
}

/** Base 2.3 §5.2.12. */
export const logCases: readonly ControllerCase[] = [
  {
    id: 'logs-mandatory',
    title: 'Every log page that is mandatory for an I/O controller of its version is supported in its full length',
    spec: 'Base 2.3 §3.1.3.5, Figure 31',
    async run(host) {
      await host.start()
      const since2 = [
        [SUPPORTED, 1024],
        [EFFECTS, 4096],
        [FEATURES, 1024],
      ] as const
      const always = [
        [ERRORS, 64],
        [SMART, 512],
        [FIRMWARE, 512],
      ] as const
      for (const [lid, lengthBytes] of host.facts.vs >= 0x0002_0000 ? [...always, ...since2] : always) {
        await readLog(host, lid, lengthBytes)
      }
    },
  },
  {
    id: 'log-of-a-dword',
    title: 'Get Log Page of one dword writes the first four bytes of the page, and no others',
    spec: 'Base 2.3 §5.2.12',
    async run(host) {
      await host.start()
      const whole = bytesOf(await readLog(host, FIRMWARE, 512))
      const memory = host.alloc(64)
      sameBytes('the first dword', bytesOf(await readLog(host, FIRMWARE, 4, { memory })), whole.subarray(0, 4))
      filledWith('memory after the dword', memory.read(4), 0xa5)
    },
  },
  {
    id: 'log-by-slices',
    title: 'Get Log Page with an offset returns the page from that byte',
    spec: 'Base 2.3 §5.2.12',
    needs: needsOffset,
    async run(host) {
      await host.start()
      const pages = needsEffects(host.facts) === undefined ? [FIRMWARE, EFFECTS] : [FIRMWARE]
      for (const lid of pages) {
        const lengthBytes = lid === EFFECTS ? 4096 : 512
        const whole = bytesOf(await readLog(host, lid, lengthBytes))
        for (const [offset, length] of [
          [4, 60],
          [64, 448],
          [508, 4],
          [lengthBytes - 128, 128],
        ] as const) {
          const slice = bytesOf(await readLog(host, lid, length, { offset }))
          sameBytes(`log ${lid}h from byte ${offset}`, slice, whole.subarray(offset, offset + length))
        }
      }
    },
  },
  {
    id: 'log-beyond-its-end',
    title: 'An offset greater than the log page is aborted with Invalid Field in Command',
    spec: 'Base 2.3 §5.2.12',
    needs: needsOffset,
    async run(host) {
      await host.start()
      for (const lid of [SMART, FIRMWARE]) {
        for (const offset of [516, 4096, 2 ** 40]) status(await askLog(host, lid, 4, { offset }), '0/02')
      }
    },
  },
  {
    id: 'log-longer-than-the-page',
    title: 'Get Log Page of more than the page returns the whole page, and writes nothing beyond the requested length',
    spec: 'Base 2.3 §5.2.12',
    async run(host) {
      await host.start()
      const whole = bytesOf(await readLog(host, FIRMWARE, 512))
      const memory = host.alloc(2048)
      const more = bytesOf(await readLog(host, FIRMWARE, 1024, { memory }))
      sameBytes('the page', more.subarray(0, 512), whole)
      filledWith('memory after the requested length', memory.read(1024), 0xa5)
    },
  },
  {
    id: 'log-across-a-page',
    title: 'A log page is written only to the memory of PRP1 and PRP2',
    spec: 'Base 2.3 §5.2.12, §4.1.1',
    async run(host) {
      await host.start()
      const whole = bytesOf(await readLog(host, FIRMWARE, 512))
      const { pageBytes } = host
      const [first, second] = [host.alloc(pageBytes), host.alloc(pageBytes)]
      const [prp1, prp2] = [first.iova(pageBytes - 100), second.iova()]
      success(await host.admin({ opcode: 0x02, nsid: 0xffff_ffff, prp1, prp2, cdw: { 10: FIRMWARE | (127 << 16) } }))
      sameBytes('up to the end of the page', first.read(pageBytes - 100), whole.subarray(0, 100))
      sameBytes('in the next page', second.read(0, 412), whole.subarray(100))
      filledWith('the page of PRP1 before the data', first.read(0, pageBytes - 100), 0xa5)
      filledWith('the page of PRP2 after the data', second.read(412), 0xa5)
    },
  },
  {
    id: 'log-above-mdts',
    title: 'Get Log Page of more than MDTS is aborted with Invalid Field in Command',
    spec: 'Base 2.3 §5.2.13.2.1, Figure 328',
    needs: (facts) => (facts.maxTransferBytes > 2 ** 24 ? 'MDTS sets no limit of up to 16 MiB' : needsOffset(facts)),
    async run(host) {
      await host.start()
      const lengthBytes = host.facts.maxTransferBytes + 4
      const memory = host.alloc(lengthBytes)
      const [prp1, prp2] = prps(host, memory)
      const dwords = lengthBytes / 4 - 1
      const cdw = { 10: FIRMWARE | ((dwords & 0xffff) << 16), 11: dwords >>> 16 }
      status(await host.admin({ opcode: 0x02, nsid: 0xffff_ffff, prp1, prp2, cdw }), '0/02')
      filledWith('memory', memory.read(), 0xa5)
    },
  },
  {
    id: 'log-reserved',
    title:
      'Get Log Page of a reserved identifier is aborted with Invalid Log Page, up to revision 2.2 with Invalid Field',
    spec: 'Base 2.3 §5.2.12, §5.2.12.4, Figure 321',
    async run(host) {
      await host.start()
      for (const lid of [0x50, 0x6f, 0x75, 0x7e]) {
        const memory = host.alloc(64)
        status(await askLog(host, lid, 64, { memory }), ...isRefusedLog)
        filledWith('memory', memory.read(), 0xa5)
      }
    },
  },
  {
    id: 'logs-supported-are-those-that-answer',
    title: 'Supported Log Pages lists exactly the supported log pages',
    spec: 'Base 2.3 §5.2.12.1.1, Figures 207 and 208',
    needs: needsVersion(2, 0),
    async run(host) {
      await host.start()
      const list = await readLog(host, SUPPORTED, 1024)
      for (const lid of [SUPPORTED, ERRORS, SMART, FIRMWARE, EFFECTS, FEATURES]) {
        equal(`LSUPP of log page ${lid.toString(16)}h`, list.getUint32(lid * 4, true) & 1, 1)
      }
      for (let lid = 0; lid < 256; lid++) {
        if ((list.getUint32(lid * 4, true) & 1) === 0) status(await askLog(host, lid, 4), ...isRefusedLog)
      }
    },
  },
  {
    id: 'log-of-controller-with-nsid',
    title: 'A log page of controller scope with the NSID of a namespace is aborted with Invalid Field in Command',
    spec: 'Base 2.3 §5.2.12.1, §5.2.12.1.3',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      status(await askLog(host, ERRORS, 64, { nsid: 1 }), '0/02')
      for (const nsid of [0, 0xffff_ffff]) success(await askLog(host, ERRORS, 64, { nsid }))
      for (const nsid of [0, 0xffff_ffff]) success(await askLog(host, SMART, 512, { nsid }))
      const perNamespace = (host.facts.lpa & 1) !== 0
      for (const nsid of await activeNamespaces(host)) {
        status(await askLog(host, SMART, 512, { nsid }), perNamespace ? '0/00' : '0/02')
      }
    },
  },
  {
    id: 'smart-counts-commands',
    title: 'SMART counts each Read and Write command once, and no others',
    spec: 'Base 2.3 §5.2.12.1.3, Figure 210',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      const before = await counters(host)
      await moveUnits(host, 0x02, 24)
      for (let i = 0; i < 4; i++) await moveUnits(host, 0x02, 8)
      for (let i = 0; i < 3; i++) await moveUnits(host, 0x01, 8)
      success(await host.command(1, { opcode: 0x00, nsid: 1 }))
      const after = await counters(host)
      equal('Host Read Commands', after.reads - before.reads, 5n)
      equal('Host Write Commands', after.writes - before.writes, 3n)
    },
  },
  {
    id: 'smart-counts-units',
    title: 'SMART counts data in thousands of 512 bytes, rounded up, whatever the block size',
    spec: 'Base 2.3 §5.2.12.1.3, Figure 210; NVM 1.2 §4.1.4',
    needs: (facts) =>
      needsBlocks(facts) ?? (facts.blockBytes > 32_768 ? `blocks of ${facts.blockBytes} bytes` : undefined),
    async run(host) {
      await host.startWithPair()
      for (const [opcode, name] of [
        [0x02, 'unitsRead'],
        [0x01, 'unitsWritten'],
      ] as const) {
        const first = (await counters(host))[name]
        await moveUnits(host, opcode, 64)
        if (first === 0n) equal(`${name} after the first 64 units`, (await counters(host))[name], 1n)
        // Sufficient to distinguish units of 1,000 from units of 1,024.
        const start = (await counters(host))[name]
        await moveUnits(host, opcode, 64_000)
        equal(`${name} after 64,000 units more`, (await counters(host))[name] - start, 64n)
        // Continues until the counter has just increased: 936 more units are within a thousand, and another 64 are not.
        for (let i = 0, seen = (await counters(host))[name]; (await counters(host))[name] === seen; i++) {
          if (i > 16) fail(`${name}: expected to increase within 1,000 units of 512 bytes`)
          await moveUnits(host, opcode, 64)
        }
        const risen = (await counters(host))[name]
        await moveUnits(host, opcode, 936)
        equal(`${name} after 936 more units`, (await counters(host))[name], risen)
        await moveUnits(host, opcode, 64)
        equal(`${name} after 1,000 more units`, (await counters(host))[name], risen + 1n)
      }
    },
  },
  {
    id: 'smart-outlives-a-reset',
    title: 'The counters of SMART continue across a Controller Reset',
    spec: 'Base 2.3 §5.2.12.1.3',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair()
      await moveUnits(host, 0x02, 8)
      await moveUnits(host, 0x01, 8)
      const before = await counters(host)
      check(before.reads > 0n && before.writes > 0n, 'commands were counted')
      await host.disable()
      await host.start()
      const after = await counters(host)
      equal('Host Read Commands', after.reads, before.reads)
      equal('Host Write Commands', after.writes, before.writes)
      equal('Data Units Read', after.unitsRead, before.unitsRead)
    },
  },
  {
    id: 'error-log-entry',
    title:
      'A failed command with M = 1 has the newest entry of the error log: its SQID, CID, status and NSID, and one more in SMART',
    spec: 'Base 2.3 §5.2.12.1.2, Figure 209; §5.2.12.1.3',
    needs: needsPairs(1),
    async run(host) {
      await host.startWithPair()
      const before = await counters(host)
      const cids = [0x1234, 0x0777]
      for (const cid of cids) {
        const completed = await host.command(1, badRead(host, cid))
        status(completed, '0/80')
        if (!completed.more) notApplicable('M is 0: the error log has no details')
      }
      const entries = Math.min(2, host.facts.controller.getUint8(262) + 1)
      const log = await readLog(host, ERRORS, 64 * entries)
      for (let i = 0; i < entries; i++) {
        const at = 64 * i
        equal('SQID', log.getUint16(at + 8, true), 1)
        equal('CID, the newest first', log.getUint16(at + 10, true), cids[1 - i]!)
        const field = log.getUint16(at + 12, true) >>> 1
        equal('SCT and SC', field & 0x7ff, 0x080)
        equal('NSID', log.getUint32(at + 24, true), 1)
        oneOf('LBA, if applicable', log.getBigUint64(at + 16, true), [0n, BigInt(host.facts.blocks)])
      }
      const count = log.getBigUint64(0, true)
      check(count >= 2n, `ECNT starts at 1h and is at least 2, got ${count}`)
      if (entries > 1) equal('ECNT of the entry before', log.getBigUint64(64, true), count - 1n)
      equal('Number of Error Information Log Entries', (await counters(host)).errors - before.errors, 2n)
    },
  },
  {
    id: 'effects-log-agrees',
    title: 'The effects log lists exactly the commands that are not rejected with Invalid Command Opcode',
    spec: 'Base 2.3 §5.2.12.1.6, Figures 213 and 214; §3.1.3.4',
    needs: (facts) => needsEffects(facts) ?? needsBlocks(facts),
    async run(host) {
      await host.startWithPair()
      const log = await readLog(host, EFFECTS, 4096)
      const supported = (qid: number, opcode: number) => log.getUint32(qid * 1024 + opcode * 4, true)
      for (const opcode of [0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0c]) {
        equal(`CSUPP of Admin command ${opcode.toString(16)}h`, supported(0, opcode) & 1, 1)
      }
      for (const opcode of [0x00, 0x01, 0x02]) {
        equal(`CSUPP of I/O command ${opcode.toString(16)}h`, supported(1, opcode) & 1, 1)
      }
      check((supported(1, 0x01) & 2) !== 0, 'Write changes the content of logical blocks (LBCC)')
      const page = host.alloc(host.pageBytes)
      for (const qid of [0, 1]) {
        for (let opcode = 0; opcode < 256; opcode++) {
          const effects = supported(qid, opcode)
          const entry = { opcode, nsid: 0xffff_fffe, prp1: page.iova() }
          if ((effects & 1) === 0) {
            equal(`effects of command ${opcode.toString(16)}h, which is not supported`, effects, 0)
            status(await host.command(qid, { ...entry, nsid: qid }), '0/01')
          } else if ((effects & 0x1e) === 0 && !(qid === 0 && [0x0c, 0x7c].includes(opcode))) {
            // An invalid NSID makes the command harmless. Not for Asynchronous Event Request, which would be held, and
            // Doorbell Buffer Config, which would use the page for doorbells.
            const { status: got, request } = await host.command(qid, entry)
            check(got !== '0/01', `${request} is supported, got Invalid Command Opcode`)
          }
        }
      }
    },
  },
  {
    id: 'features-log-agrees',
    title: 'Get Features supports exactly the features in the Feature Identifiers Supported log',
    spec: 'Base 2.3 §5.2.12.1.18, §4.4',
    needs: needsVersion(2, 0),
    async run(host) {
      await host.start()
      const log = await readLog(host, FEATURES, 1024)
      for (const fid of [0x01, 0x02, 0x04, 0x07, 0x08, 0x09, 0x0b]) {
        equal(`FSUPP of feature ${fid.toString(16)}h`, log.getUint32(fid * 4, true) & 1, 1)
      }
      const memory = host.alloc(4096)
      for (let fid = 0; fid < 256; fid++) {
        const effects = log.getUint32(fid * 4, true)
        if ((effects & 1) !== 0) continue
        equal(`effects of feature ${fid.toString(16)}h, which is not supported`, effects, 0)
        status(await getFeature(host, fid, { memory }), '0/02')
      }
    },
  },
]
