import { checkFaultPlan } from '@gpunvme/nvme-spec/faults'
import { namespaceFields } from '../nvm/namespace-options.js'
import {
  anything,
  bytes,
  checkOptions,
  flag,
  instance,
  isRecord,
  listOf,
  oneOf,
  optional,
  record,
  seedField,
  show,
  text,
  whole,
  type Field,
  type Fields,
} from '../options.js'
import type { IdlePolicy, RealTimeNamespace, RealTimeOptions } from './options.js'

type OnMemory = Extract<RealTimeOptions, { readonly memory: unknown }>
type OnModule = Extract<RealTimeOptions, { readonly module: unknown }>

const polls = (min: number) => whole(min, Number.MAX_SAFE_INTEGER, `a count of ${min} or more`)
const sleepNs = whole(1, 60e9, 'whole nanoseconds from 1 to 60e9')

const idleFields: Fields<IdlePolicy> = {
  spinPolls: optional(polls(0)),
  pollsPerYield: optional(polls(1)),
  minSleepNs: optional(sleepNs),
  maxSleepNs: optional(sleepNs),
}

const reasons = { media: "it cannot be passed to the simulator's thread; use 'file'" }
const realTimeNamespaceFields: Fields<RealTimeNamespace> = {
  ...Object.fromEntries(Object.entries(namespaceFields).filter(([name]) => name !== 'media')),
  file: optional(record<NonNullable<RealTimeNamespace['file']>>({ path: text, readOnly: optional(flag) })),
} as Fields<RealTimeNamespace>

/** Options of a namespace that another thread can create. */
export const realTimeNamespace: Field = {
  ...record(realTimeNamespaceFields),
  inside: (value, where) => checkOptions(where, value, realTimeNamespaceFields, reasons),
}

/** All options except the source of memory. */
const fields: Fields<Omit<OnMemory, 'memory'>> = {
  baseIova: optional(whole(0, Number.MAX_SAFE_INTEGER)),
  // Checked with their own errors.
  profile: optional(anything),
  faults: optional(anything),
  seed: optional(seedField),
  namespaces: optional(listOf(realTimeNamespace)),
  reach: optional(oneOf(['allocated', 'all'])),
  idle: optional(record(idleFields)),
  // The range of a timer.
  responseLimitMs: optional(whole(1, 2 ** 31 - 1)),
}

const onMemory: Fields<OnMemory> = {
  memory: instance(SharedArrayBuffer, 'a SharedArrayBuffer, since threads cannot share other memory'),
  ...fields,
}

const onModule: Fields<OnModule> = {
  module: instance(URL, "a URL, as new URL('./host.mjs', import.meta.url)"),
  address: {
    expected: 'an address as a bigint, 1n or more',
    type: 'bigint',
    isFit: (value) => typeof value === 'bigint' && value > 0n && value < 2n ** 64n,
  },
  lengthBytes: bytes(1),
  ...fields,
}

/** Options of `simulate` that are not supported here. */
const elsewhere = {
  trace: "a function cannot be passed to the simulator's thread",
  spareCapacityBytes: 'only simulate() has spare capacity',
  hostMemoryBytes: "the memory's own length is the limit",
  fragmented: 'the memory is contiguous',
  rootComplex: 'only simulate() has a root complex',
}

/**
 * Checks options before a thread is started for them.
 * @throws TypeError or RangeError that names the option; FaultPlanError for an invalid plan.
 */
export function checkRealTimeOptions(options: unknown): asserts options is RealTimeOptions {
  const { memory, module } = isRecord(options) ? options : {}
  if ((memory === undefined) === (module === undefined)) {
    throw new TypeError(
      "real-time options: expected either 'memory', a SharedArrayBuffer, or 'module' with 'address' and 'lengthBytes', " +
        `got ${memory === undefined ? (isRecord(options) ? 'neither' : show(options)) : 'both'}`,
    )
  }
  if (memory === undefined) checkOptions('real-time options', options, onModule, elsewhere)
  else checkOptions('real-time options', options, onMemory, elsewhere)
  if (options.faults !== undefined) checkFaultPlan(options.faults)
}
