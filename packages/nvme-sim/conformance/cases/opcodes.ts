import type { ControllerCase } from '../case.js'
import { fail, status, success } from '../check.js'
import type { CaseHost } from '../host.js'
import { anyRead, needsBlocks, needsPairs } from '../io.js'
import { createCqEntry, createSqEntry, type Entry } from '../raw-host/entry.js'

const INVALID_OPCODE = '0/01'
const INVALID_FIELD = '0/02'

/**
 * Admin commands that an I/O controller may support (Base 2.3 Figures 28 and 142); C0h and above are vendor specific.
 */
const adminOpcodes = new Set([
  ...[0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x10, 0x11, 0x14, 0x15, 0x18, 0x19, 0x1a],
  ...[0x1c, 0x1d, 0x1e, 0x20, 0x22, 0x24, 0x3d, 0x3e, 0x41, 0x42, 0x45, 0x7c, 0x80, 0x81, 0x82, 0x84, 0x85, 0x86],
  ...[0x88, 0x89, 0x8c],
])

/** Commands of the NVM Command Set (NVM 1.2 Figure 21); 80h and above are vendor specific. */
const ioOpcodes = new Set([
  ...[0x00, 0x01, 0x02, 0x04, 0x05, 0x08, 0x09, 0x0c, 0x0d, 0x0e, 0x11, 0x12, 0x15, 0x18, 0x19, 0x1d],
])

/** Optional Admin commands, by their bit of OACS (Base 2.3 Figure 328). */
const byOacs = [
  [0x81, 0],
  [0x82, 0],
  [0x80, 1],
  [0x10, 2],
  [0x11, 2],
  [0x0d, 3],
  [0x15, 3],
  [0x14, 4],
  [0x19, 5],
  [0x1a, 5],
  [0x1d, 6],
  [0x1e, 6],
  [0x1c, 7],
  [0x7c, 8],
  [0x86, 9],
  [0x24, 10],
] as const

/** Optional I/O commands, by their bit of ONCS (Base 2.3 Figure 328). */
const byOncs = [
  [0x05, 0],
  [0x04, 1],
  [0x09, 2],
  [0x08, 3],
  [0x0d, 5],
  [0x0e, 5],
  [0x11, 5],
  [0x15, 5],
  [0x0c, 7],
  [0x19, 8],
] as const

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

const absent = (bits: number, table: readonly (readonly [opcode: number, bit: number])[]) =>
  table.filter(([, bit]) => ((bits >> bit) & 1) === 0).map(([opcode]) => opcode)

/** Checks that each opcode is rejected, with a data page that must not be written. */
async function allInvalid(host: CaseHost, qid: number, opcodes: readonly number[]): Promise<void> {
  const page = host.alloc(host.pageBytes)
  const wrong: string[] = []
  for (const opcode of opcodes) {
    const completed = await host.command(qid, { opcode, nsid: qid === 0 ? 0 : 1, prp1: page.iova() })
    if (completed.status !== INVALID_OPCODE) wrong.push(`${opcode.toString(16)}h: ${completed.status}`)
  }
  if (wrong.length > 0) fail(`expected status ${INVALID_OPCODE} for every opcode, got ${wrong.join(', ')}`)
  if (page.read().some((byte) => byte !== 0xa5)) fail('expected no data of an invalid opcode, got data at PRP1')
}

/** Commands that do not use NSID. Valid with NSID 0h on a controller with CQ 2 and queue pair 1. */
function withoutNsid(host: CaseHost): readonly Entry[] {
  const page = host.alloc(host.pageBytes, { fill: 0 }).iova()
  const hasShadow = ((host.facts.oacs >> 8) & 1) === 1
  return [
    createCqEntry(3, 8, page),
    createSqEntry(2, 8, 2, page),
    { opcode: 0x04, cdw: { 10: 2 } },
    { opcode: 0x00, cdw: { 10: 1 } },
    { opcode: 0x08, cdw: { 10: 1 | (0xffff << 16) } },
    ...(hasShadow ? [{ opcode: 0x7c, prp1: page, prp2: host.alloc(host.pageBytes, { fill: 0 }).iova() }] : []),
    { opcode: 0x0c },
  ]
}

interface BadBits {
  readonly id: string
  readonly what: string
  readonly cdw0: number
}

const badBits: readonly BadBits[] = [
  { id: 'fuse-first', what: 'FUSE = 01b', cdw0: 1 << 8 },
  { id: 'fuse-second', what: 'FUSE = 10b', cdw0: 2 << 8 },
  { id: 'sgl', what: 'PSDT = 01b', cdw0: 1 << 14 },
  { id: 'sgl-metadata', what: 'PSDT = 10b', cdw0: 2 << 14 },
]

/** Unsupported opcodes, and invalid NSIDs and bits of CDW0. */
export const opcodeCases: readonly ControllerCase[] = [
  {
    id: 'admin-opcodes-reserved',
    title:
      'Every Admin opcode that is reserved, or prohibited for an I/O controller, is rejected with Invalid Command Opcode',
    spec: 'Base 2.3 §5 Figure 142, §3.1.3.4 Figure 28',
    async run(host) {
      await host.start()
      await allInvalid(
        host,
        0,
        range(0, 0xc0).filter((opcode) => !adminOpcodes.has(opcode)),
      )
      success(await host.admin({ opcode: 0x0a, cdw: { 10: 0x07 } }))
    },
  },
  {
    id: 'admin-opcodes-not-supported',
    title: 'Admin commands not supported according to OACS are rejected with Invalid Command Opcode',
    spec: 'Base 2.3 §3.1.3.4, §5.2.13.2.1',
    needs: ({ oacs }) => (absent(oacs, byOacs).length > 0 ? undefined : 'every command that OACS names is supported'),
    async run(host) {
      await host.start()
      await allInvalid(host, 0, absent(host.facts.oacs, byOacs))
    },
  },
  {
    id: 'io-opcodes-reserved',
    title: 'Every I/O opcode that the NVM Command Set reserves is rejected with Invalid Command Opcode',
    spec: 'NVM Command Set 1.2 §3.3 Figure 21',
    needs: needsBlocks,
    async run(host) {
      await host.startWithPair(8)
      await allInvalid(
        host,
        1,
        range(0, 0x80).filter((opcode) => !ioOpcodes.has(opcode)),
      )
      success(await host.command(1, anyRead(host)))
    },
  },
  {
    id: 'io-opcodes-not-supported',
    title: 'I/O commands not supported according to ONCS are rejected with Invalid Command Opcode',
    spec: 'Base 2.3 §5.2.13.2.1; NVM Command Set 1.2 §3.3',
    needs: (facts) =>
      absent(facts.oncs, byOncs).length > 0 ? needsBlocks(facts) : 'every command that ONCS names is supported',
    async run(host) {
      await host.startWithPair(8)
      await allInvalid(host, 1, absent(host.facts.oncs, byOncs))
      success(await host.command(1, anyRead(host)))
    },
  },
  {
    id: 'admin-nsid-not-used',
    title: 'Admin commands that do not use NSID are aborted with Invalid Field in Command for any NSID but 0h',
    spec: 'Base 2.2 §4.1.1, Figure 92',
    needs: needsPairs(3),
    async run(host) {
      await host.startWithPair(8)
      success(await host.admin(createCqEntry(2, 8, host.alloc(host.pageBytes, { fill: 0 }).iova())))
      for (const entry of withoutNsid(host)) {
        for (const nsid of [1, 0xffff_ffff]) status(await host.admin({ ...entry, nsid }), INVALID_FIELD)
      }
      success(await host.command(1, anyRead(host)))
    },
  },
  ...badBits.map(({ id, what, cdw0 }): ControllerCase => ({
    id: `admin-${id}`,
    title: `An Admin command with ${what} is rejected with Invalid Field in Command`,
    spec: id.startsWith('fuse') ? 'Base 2.3 §3.4.2, §4.1.1' : 'Base 2.3 §4.1.1 (PRPs shall be used for Admin commands)',
    async run(host) {
      await host.start()
      const page = host.alloc(4096)
      status(await host.admin({ opcode: 0x06, prp1: page.iova(), cdw: { 0: cdw0, 10: 0x01 } }), INVALID_FIELD)
      success(await host.admin({ opcode: 0x06, prp1: page.iova(), cdw: { 10: 0x01 } }))
    },
  })),
]
