import type { Plan } from '@gpunvme/nvme-spec/transport'
import type { DriverCase } from '../case.js'
import { check, equal, type ExpectedError } from '../check.js'
import type { Opened } from '../context.js'
import { checkUntouched, clearData } from '../data.js'
import { area, readPlan, roundTrip, withoutAWrite } from './support.js'

type Call = (opened: Opened) => unknown

const FREED = [
  ['read', 'A read into freed memory'],
  ['write', 'A write from freed memory'],
  ['compare', 'A comparison with freed memory'],
] as const

/** Invalid calls: id, title, expected error, call. */
const CALLS: readonly (readonly [string, string, ExpectedError, Call])[] = [
  [
    'past-the-end',
    'A read past the end of its namespace',
    { code: 'ERR_GPUNVME_LBA_RANGE', says: 'not all in namespace' },
    ({ ns, alloc }) => ns.read(ns.blocks - 1, 2, alloc(2 * ns.blockBytes)),
  ],
  [
    'behind-the-end',
    'A read that begins after the end of its namespace',
    { code: 'ERR_GPUNVME_LBA_RANGE' },
    ({ ns, alloc }) => ns.read(ns.blocks, 1, alloc(ns.blockBytes)),
  ],
  [
    'write-past-the-end',
    'A write past the end of its namespace',
    { code: 'ERR_GPUNVME_LBA_RANGE' },
    ({ ns, alloc }) => ns.write(ns.blocks - 1, 2, alloc(2 * ns.blockBytes)),
  ],
  [
    'no-blocks',
    'A transfer of no blocks',
    { type: 'RangeError', says: 'at least 1 block' },
    ({ ns, alloc }) => ns.read(0, 0, alloc(4096)),
  ],
  [
    'negative-lba',
    'A negative LBA',
    { type: 'RangeError', says: 'SLBA -1' },
    ({ ns, alloc }) => ns.read(-1, 1, alloc(4096)),
  ],
  [
    'negative-blocks',
    'A negative number of blocks',
    { type: 'RangeError' },
    ({ ns, alloc }) => ns.read(8, -1, alloc(4096)),
  ],
  ['half-a-block', 'A fraction of a block', { type: 'RangeError' }, ({ ns, alloc }) => ns.read(0, 0.5, alloc(4096))],
  ['nan', 'An LBA that is not a number', { type: 'RangeError' }, ({ ns, alloc }) => ns.read(NaN, 1, alloc(4096))],
  [
    'lba-2-to-53',
    'An LBA of 2^53',
    { type: 'RangeError', says: 'SLBA 9007199254740992' },
    ({ ns, alloc }) => ns.read(2 ** 53, 1, alloc(4096)),
  ],
  [
    'memory-too-small',
    'Memory that is too small',
    { type: 'RangeError', says: 'memory of' },
    ({ ns, alloc }) => ns.read(0, 2, alloc(ns.blockBytes)),
  ],
  [
    'offset-past-the-end',
    'An offset that leaves too little memory',
    { type: 'RangeError', says: 'memory of' },
    ({ ns, alloc }) => ns.read(0, 1, alloc(8192), { offsetBytes: 8192 - ns.blockBytes + 4 }),
  ],
  [
    'negative-offset',
    'A negative offset',
    { type: 'RangeError' },
    ({ ns, alloc }) => ns.read(0, 1, alloc(8192), { offsetBytes: -4096 }),
  ],
  ...FREED.map(([operation, title]): (typeof CALLS)[number] => [
    `${operation}-freed-memory`,
    title,
    { type: 'TypeError', says: 'was freed' },
    async ({ ns, lba, alloc }) => {
      const freed = ns.dma.alloc(4096)
      freed.free()
      const next = alloc(4096)
      clearData(next)
      await ns[operation](lba, 4096 / ns.blockBytes, freed).finally(() => {
        checkUntouched(next, 0, 4096)
      })
    },
  ]),
  [
    'time-out-nan',
    'A time-out that is not a number',
    { type: 'RangeError', says: 'timeoutNs' },
    ({ ns, alloc }) => ns.read(0, 1, alloc(4096), { timeoutNs: NaN }),
  ],
  [
    'time-out-zero',
    'A time-out of 0',
    { type: 'RangeError', says: 'timeoutNs' },
    ({ ns, alloc }) => ns.read(0, 1, alloc(4096), { timeoutNs: 0 }),
  ],
  [
    'time-out-infinite',
    'An infinite time-out',
    { type: 'RangeError', says: 'timeoutNs' },
    ({ ns, alloc }) => ns.read(0, 1, alloc(4096), { timeoutNs: Infinity }),
  ],
]

/** Invalid plans: id, title, expected error, changed fields. Each is rejected before its first command is staged. */
const PLANS: readonly (readonly [string, string, ExpectedError, (plan: Plan) => Partial<Plan>])[] = [
  [
    'of-another-namespace',
    'for another namespace',
    { type: 'TypeError', says: 'namespace' },
    ({ nsid }) => ({ nsid: nsid + 1 }),
  ],
  [
    'of-another-format',
    'for another block size',
    { type: 'TypeError', says: 'block' },
    ({ blockBytes }) => ({ blockBytes: blockBytes * 2 }),
  ],
  [
    'of-no-operation',
    'with an invalid operation',
    { type: 'TypeError', says: 'operation' },
    () => ({ operation: 'erase' as never }),
  ],
  [
    'of-too-few-entries',
    'with too few entries',
    { type: 'RangeError', says: 'slba' },
    () => ({ slba: Float64Array.of(0) }),
  ],
  [
    'for-a-queue-too-many',
    'for a queue that does not exist',
    { type: 'RangeError', says: 'queue' },
    () => ({ queue: Uint16Array.of(0, 500, 0, 0) }),
  ],
  [
    'with-a-zero',
    'with a command of no blocks',
    { type: 'RangeError', says: 'blocks' },
    () => ({ blocks: Uint32Array.of(1, 1, 0, 1) }),
  ],
  [
    'too-long',
    'with a command longer than maxTransferBytes',
    { type: 'RangeError', says: 'command 0' },
    () => ({ blocks: Uint32Array.of(65_536, 1, 1, 1) }),
  ],
  [
    'out-of-memory',
    'whose last command exceeds the memory',
    { type: 'RangeError', says: 'command 3' },
    () => ({ offsetBytes: Float64Array.of(0, 0, 0, 1e9) }),
  ],
]

const OPTIONS: readonly (readonly [string, object, string])[] = [
  ['queues', { queues: 0 }, 'queues'],
  ['queue-depth-0', { queueDepth: 0 }, 'queueDepth'],
  ['queue-depth-above', { queueDepth: 65_536 }, 'queueDepth'],
  ['queue-entries', { queueEntries: 1 }, 'queueEntries'],
  ['queue-entries-above', { queueEntries: 65_537 }, 'queueEntries'],
  ['completion-queues', { queues: 2, completionQueues: 3 }, 'completionQueues'],
  ['transfer', { maxTransferBytes: 100 }, 'maxTransferBytes'],
  ['ready', { readyTimeoutNs: NaN }, 'readyTimeoutNs'],
  ['command', { commandTimeoutNs: Infinity }, 'commandTimeoutNs'],
]

/** Invalid calls, plans and options. Each must be rejected with the expected error, and submit nothing. */
export const badInputCases: readonly DriverCase[] = [
  ...CALLS.map(([id, title, error, call]): DriverCase => ({
    id: `input-${id}`,
    title: `${title} is rejected; nothing is submitted`,
    spec: 'ours',
    time: 'any',
    async run(context) {
      const opened = await context.open()
      const { ns, device } = opened
      // The guard reads before the first write of a namespace: those reads do not belong to the call.
      await ns.write(opened.lba, 1, opened.alloc(ns.blockBytes))
      await withoutAWrite(device, () => context.expectRejected(title, () => call(opened), error))
      await roundTrip(opened, 4)
    },
  })),
  ...PLANS.map(([id, title, error, change]): DriverCase => ({
    id: `plan-${id}`,
    title: `A plan ${title} is rejected; none of it is submitted`,
    spec: 'ours',
    time: 'any',
    async run(context) {
      const { ns, device, alloc } = await context.open({ maxTransferBytes: 1024 * 1024 })
      const memory = alloc(64 * 1024)
      const plan = readPlan(ns, 0, 4)
      const broken = { ...plan, ...change(plan) }
      await ns.execute(plan, memory)
      // Any operation other than a read counts as a write, before which the guard reads.
      if (broken.operation !== 'read') {
        const before = device.countOf('Write')
        await context.expectRejected('execute', () => ns.execute(broken, memory), error)
        equal('Write commands', device.countOf('Write'), before)
      } else
        await withoutAWrite(device, () => context.expectRejected('execute', () => ns.execute(broken, memory), error))
    },
  })),
  {
    id: 'options-out-of-range',
    title: 'Names an invalid option in the error, and accesses no register',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const device = await context.device()
      for (const [what, options, says] of OPTIONS) {
        await context.expectRejected(what, () => context.bringUp(device.transport, options), {
          type: 'RangeError',
          says,
        })
      }
      equal('accesses to registers', device.accesses.length, 0)
    },
  },
  {
    id: 'interrupts-missing',
    title: 'Rejects the option interrupts on a transport without interrupts, and names it in the error',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const device = await context.device({ transport: () => ({ interrupts: undefined }) as never })
      const open = () => context.bringUp(device.transport, { interrupts: true })
      await context.expectRejected('open', open, { type: 'TypeError', says: 'interrupts' })
      check(device.writes.length === 0, 'no register is written')
    },
  },
]

export const badInput = area('bad input', badInputCases)
