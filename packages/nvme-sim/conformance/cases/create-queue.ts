import type { ControllerCase } from '../case.js'
import { status, success } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { anyRead, needsBlocks, needsPairs } from '../io.js'

const CREATE_SQ = 0x01
const CREATE_CQ = 0x05
const PC = 1

/** Parameters of a Create command. Default: queue 2 with 8 entries; an SQ uses CQ 1. */
interface Creation {
  readonly qid?: number
  readonly entries?: number
  readonly cdw11?: number
  /** Added to a page-aligned address. */
  readonly offset?: number
}

interface Refusal {
  readonly id: string
  readonly title: string
  readonly spec: string
  readonly opcode: typeof CREATE_SQ | typeof CREATE_CQ
  /** All statuses that the specification allows. */
  readonly allowed: readonly string[]
  readonly creation: Creation | ((facts: ControllerFacts) => Creation)
  readonly needs?: (facts: ControllerFacts) => string | undefined
}

const CQ_SPEC = 'Base 2.3 §5.3.1'
const SQ_SPEC = 'Base 2.3 §5.3.2'
const onCq1 = PC | (1 << 16)

const smallerThanLargest = ({ maxQueueEntries }: ControllerFacts) =>
  maxQueueEntries < 65536 ? undefined : 'CAP.MQES is FFFFh: every queue size is allowed'
const contiguousOnly = ({ contiguousQueuesOnly }: ControllerFacts) =>
  contiguousQueuesOnly ? undefined : 'CAP.CQR is 0: PC may be 0'

const refusals: readonly Refusal[] = [
  {
    id: 'create-cq-of-qid-0',
    title: 'Create I/O Completion Queue rejects QID 0h with Invalid Queue Identifier',
    spec: CQ_SPEC,
    opcode: CREATE_CQ,
    allowed: ['1/01'],
    creation: { qid: 0 },
  },
  {
    id: 'create-cq-that-exists',
    title: 'Create I/O Completion Queue rejects a QID in use with Invalid Queue Identifier',
    spec: CQ_SPEC,
    opcode: CREATE_CQ,
    allowed: ['1/01'],
    creation: { qid: 1 },
  },
  {
    id: 'create-cq-above-the-number-of-queues',
    title: 'Create I/O Completion Queue rejects a QID above the number allocated with Invalid Queue Identifier',
    spec: CQ_SPEC,
    opcode: CREATE_CQ,
    allowed: ['1/01'],
    creation: ({ ioCqs }) => ({ qid: ioCqs + 1 }),
    needs: ({ ioCqs }) => (ioCqs < 65535 ? undefined : 'all 65,535 queues are granted'),
  },
  {
    id: 'create-cq-of-one-entry',
    title: 'Create I/O Completion Queue rejects size 0h, one entry, with Invalid Queue Size',
    spec: CQ_SPEC,
    opcode: CREATE_CQ,
    allowed: ['1/02'],
    creation: { entries: 1 },
  },
  {
    id: 'create-cq-above-mqes',
    title: 'Create I/O Completion Queue rejects a size above CAP.MQES with Invalid Queue Size',
    spec: CQ_SPEC,
    opcode: CREATE_CQ,
    allowed: ['1/02'],
    creation: ({ maxQueueEntries }) => ({ entries: maxQueueEntries + 1 }),
    needs: smallerThanLargest,
  },
  {
    id: 'create-cq-not-contiguous',
    title: 'Create I/O Completion Queue rejects PC = 0 with Invalid Field in Command if CAP.CQR is 1',
    spec: CQ_SPEC,
    opcode: CREATE_CQ,
    allowed: ['0/02'],
    creation: { cdw11: 0 },
    needs: contiguousOnly,
  },
  {
    id: 'create-cq-not-aligned',
    title: 'Create I/O Completion Queue rejects PRP1 with an offset in its page with PRP Offset Invalid',
    spec: CQ_SPEC,
    opcode: CREATE_CQ,
    allowed: ['0/13'],
    creation: { offset: 64 },
  },
  {
    id: 'create-cq-interrupt-vector',
    title: 'Create I/O Completion Queue rejects an unsupported vector with Invalid Interrupt Vector',
    spec: `${CQ_SPEC}; PCIe Transport 1.2 §3.2`,
    opcode: CREATE_CQ,
    allowed: ['1/08'],
    creation: { cdw11: PC | 2 | (0xffff << 16) },
  },
  {
    id: 'create-sq-of-qid-0',
    title: 'Create I/O Submission Queue rejects QID 0h with Invalid Queue Identifier',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/01'],
    creation: { qid: 0 },
  },
  {
    id: 'create-sq-that-exists',
    title: 'Create I/O Submission Queue rejects a QID in use with Invalid Queue Identifier',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/01'],
    creation: { qid: 1 },
  },
  {
    id: 'create-sq-above-the-number-of-queues',
    title: 'Create I/O Submission Queue rejects a QID above the number allocated with Invalid Queue Identifier',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/01'],
    creation: ({ ioSqs }) => ({ qid: ioSqs + 1 }),
    needs: ({ ioSqs }) => (ioSqs < 65535 ? undefined : 'all 65,535 queues are granted'),
  },
  {
    id: 'create-sq-of-one-entry',
    title: 'Create I/O Submission Queue rejects size 0h, one entry, with Invalid Queue Size',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/02'],
    creation: { entries: 1 },
  },
  {
    id: 'create-sq-above-mqes',
    title: 'Create I/O Submission Queue rejects a size above CAP.MQES with Invalid Queue Size',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/02'],
    creation: ({ maxQueueEntries }) => ({ entries: maxQueueEntries + 1 }),
    needs: smallerThanLargest,
  },
  {
    id: 'create-sq-not-contiguous',
    title: 'Create I/O Submission Queue rejects PC = 0 with Invalid Field in Command if CAP.CQR is 1',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['0/02'],
    creation: { cdw11: 1 << 16 },
    needs: contiguousOnly,
  },
  {
    id: 'create-sq-not-aligned',
    title: 'Create I/O Submission Queue rejects PRP1 with an offset in its page with PRP Offset Invalid',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['0/13'],
    creation: { offset: 64 },
  },
  {
    id: 'create-sq-on-the-admin-cq',
    title: 'Create I/O Submission Queue rejects CQID 0h with Invalid Queue Identifier',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/01'],
    creation: { cdw11: PC },
  },
  {
    id: 'create-sq-on-a-cq-above-the-number-of-queues',
    title: 'Create I/O Submission Queue rejects a CQID outside of the range supported with Invalid Queue Identifier',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/01'],
    creation: { cdw11: PC | (0xffff << 16) },
    needs: ({ ioCqs }) => (ioCqs < 65535 ? undefined : 'all 65,535 queues are granted'),
  },
  {
    id: 'create-sq-on-a-cq-not-created',
    title: 'Create I/O Submission Queue rejects a CQID that was not created with Completion Queue Invalid',
    spec: SQ_SPEC,
    opcode: CREATE_SQ,
    allowed: ['1/00'],
    creation: { cdw11: PC | (2 << 16) },
  },
  {
    // The order of checks is not specified.
    id: 'create-cq-all-wrong',
    title: 'Create I/O Completion Queue with several faults is rejected with the status of one of them',
    spec: `${CQ_SPEC}, §4.2.3`,
    opcode: CREATE_CQ,
    allowed: ['1/01', '1/02', '1/08', '0/02', '0/13'],
    creation: { qid: 0, entries: 1, cdw11: 2 | (0xffff << 16), offset: 12 },
  },
  {
    id: 'create-sq-all-wrong',
    title: 'Create I/O Submission Queue with several faults is rejected with the status of one of them',
    spec: `${SQ_SPEC}, §4.2.3`,
    opcode: CREATE_SQ,
    allowed: ['1/00', '1/01', '1/02', '0/02', '0/13'],
    creation: { qid: 0, entries: 1, cdw11: 0, offset: 12 },
  },
]

function create(host: CaseHost, opcode: number, creation: Creation) {
  const { qid = 2, entries = 8, cdw11 = opcode === CREATE_CQ ? PC : onCq1, offset = 0 } = creation
  const memory = host.alloc(entries * (opcode === CREATE_CQ ? 16 : 64) + offset, { fill: 0 })
  return host.admin({
    opcode,
    prp1: memory.iova(offset),
    cdw: { 10: qid | ((entries - 1) << 16), 11: cdw11 },
  })
}

function refusal({ opcode, allowed, creation, ...rest }: Refusal): ControllerCase {
  const { needs = needsPairs(2) } = rest
  return {
    ...rest,
    needs: (facts) => needsPairs(2)(facts) ?? needs(facts),
    async run(host) {
      await host.startWithPair(8)
      const wrong = typeof creation === 'function' ? creation(host.facts) : creation
      status(await create(host, opcode, wrong), ...allowed)
      // No queue was created, and existing queues work.
      success(await host.command(1, anyRead(host)))
      await host.createPair(2, 8)
      success(await host.command(2, anyRead(host)))
    },
  }
}

/** Base 2.3 §5.3.1 and §5.3.2. */
export const createQueueCases: readonly ControllerCase[] = [
  ...refusals.map(refusal),
  {
    id: 'create-cq-before-iocqes',
    title: 'Create I/O Completion Queue is rejected with Invalid Queue Size while CC.IOCQES is 0h',
    spec: 'Base 2.3 §3.1.4.5',
    async run(host) {
      await host.start({ cc: host.enabledCc & ~0x00f0_0000 })
      status(await create(host, CREATE_CQ, { qid: 1 }), '1/02')
    },
  },
  {
    id: 'create-sq-before-iosqes',
    title: 'Create I/O Submission Queue is rejected with Invalid Queue Size while CC.IOSQES is 0h',
    spec: 'Base 2.3 §3.1.4.5',
    async run(host) {
      await host.start({ cc: host.enabledCc & ~0x000f_0000 })
      await host.createCq(1, 8)
      status(await create(host, CREATE_SQ, { qid: 1 }), '1/02')
    },
  },
  {
    id: 'entry-sizes-set-after-enabling',
    title: 'CC.IOSQES and CC.IOCQES may be set once the controller is enabled, before any I/O queue exists',
    spec: 'Base 2.3 §3.1.4.5',
    needs: needsBlocks,
    async run(host) {
      await host.start({ cc: host.enabledCc & ~0x00ff_0000 })
      host.bar.write32(0x14, host.enabledCc)
      await host.createPair(1, 8)
      success(await host.command(1, anyRead(host)))
    },
  },
  {
    id: 'create-every-queue',
    title: 'Every queue that Number of Queues granted can be created, in descending order too, and each takes commands',
    spec: 'Base 2.3 §5.2.26.2.1, §3.3.3.2',
    needs: needsBlocks,
    async run(host) {
      await host.start()
      for (let qid = host.grantedCqs; qid >= 1; qid--) await host.createCq(qid, 3)
      for (let qid = host.grantedSqs; qid >= 1; qid--) await host.createSq(qid, 3, Math.min(qid, host.grantedCqs))
      const read = anyRead(host)
      for (let round = 0; round < 3; round++) {
        for (let qid = 1; qid <= host.grantedSqs; qid++) success(await host.command(qid, read))
      }
    },
  },
]
