// Runs the driver cases that need no configurable controller: those that depend on the transport, and a share of the
// others, which are distributed over the modes. Prints one line per case.
import { cpuKernelEngine } from '@gpunvme/cuda-native'
import {
  driverCases,
  runDriverCase,
  shortfall,
  type DriverCaseOptions,
  type OpenTransport,
} from '@gpunvme/host-driver/conformance'
import { fixed, loose, MIB, openTransport, print, take, variable } from './lib.js'

/** Time limit of a case. Generous, for QEMU on a busy machine. */
const WALL_LIMIT_MS = 20_000

/** Cases that would take a minute here and do not depend on the transport, with the reason. */
const TOO_LONG: Readonly<Record<string, string>> = {
  'no-memory': 'it opens the controller once for each allocation that opening makes',
}

/** Cases that run in every mode: the transport provides registers, memory, resets and the clean-up. */
const EVERYWHERE = [
  ...['start-enabled', 'registers-in-halves', 'start-by-function-reset', 'identity', 'start-removed'],
  ...['queue-of-mqes-entries', 'several-sqs-on-one-cq', 'queues-take-turns', 'random-blocks', 'place-in-memory'],
  ...[
    'mdts-exactly',
    'prp-write-from-an-offset',
    'prp-broken-inside-a-page',
    'plans-at-once',
    'two-controllers-one-fails',
  ],
  ...['recover-function-reset-under-load', 'reset-between-plans', 'removed-under-load', 'lost-keeps-its-memory'],
  ...['dispose', 'close-under-load', 'memory-after-close'],
]

/** Index of the share of the other cases to run, and number of shares. */
const [share, shares] = variable('VM_CASES').split('/').map(Number) as [number, number]

/** Options by engine: the driver's host engine, or device code on CPU threads. */
const engines: Readonly<Record<string, DriverCaseOptions>> = {
  host: {},
  'cpu-kernel': { engine: (transport) => cpuKernelEngine(transport), rings: 'powers of two' },
}
const options: DriverCaseOptions = { wallLimitMs: WALL_LIMIT_MS, ...engines[variable('VM_ENGINE')] }

/** QEMU's controller as configured in modes.ts, with the defaults of hw/nvme/ctrl.c. */
const shape = (mib: number) => ({
  dstrd: 0,
  maxQueueEntries: 2048,
  mdts: 7,
  ioQueuePairs: 64,
  namespaces: [{ nsid: 1, blockBytes: 512, metadataBytes: 0, minBytes: mib * MIB }],
})

const spare = loose()
await using first = await take(fixed)
await using second = await take(spare)
const devices = [
  { bdf: first.bdf, serial: fixed.serial, shape: shape(256), inUse: false },
  { bdf: second.bdf, serial: spare.serial, shape: shape(64), inUse: false },
]

const open: OpenTransport = async (request) => {
  const device = devices.find(({ inUse }) => !inUse)
  if (device === undefined) return 'the guest has two controllers for the cases'
  const reason = shortfall(device.shape, request)
  if (reason !== undefined) return reason
  const transport = await openTransport(device)
  device.inUse = true
  const close = async () => {
    await transport.close()
    device.inUse = false
  }
  return { transport: { ...transport, close }, serial: device.serial }
}

const gone = EVERYWHERE.filter((id) => !driverCases.some((each) => each.id === id))
const chosen = driverCases.filter(({ id }, index) => EVERYWHERE.includes(id) || index % shares === share)
const started = performance.now()
for (const each of chosen) {
  const { id } = each
  const began = performance.now()
  const result =
    id in TOO_LONG ? ({ outcome: 'skipped', reason: TOO_LONG[id]! } as const) : await runDriverCase(each, open, options)
  const ms = Math.round(performance.now() - began)
  const why =
    result.outcome === 'failed' ? result.error.message : result.outcome === 'skipped' ? result.reason : undefined
  print({ id, outcome: result.outcome, ms, why })
}
print({ cases: chosen.length, gone, ms: Math.round(performance.now() - started) })
