import { checkFaultPlan } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import {
  anything,
  checkOptions,
  flag,
  instance,
  listOf,
  oneOf,
  optional,
  record,
  seedField,
  text,
  type Fields,
} from '../options.js'
import type { ProfileName } from '../profiles/index.js'
import type { DriveProfile } from '../profiles/profile.js'
import { realTimeNamespace } from '../realtime/check-options.js'
import type { RealTimeNamespace } from '../realtime/options.js'
import type { TraceFileOptions } from './trace-file.js'

/** Options of a vfio-user server. All except `module` and `socket` are optional. */
export interface VfioUserServerOptions {
  /**
   * Path of the socket to listen at, at most 107 bytes, in an existing folder. A stale socket is removed first; any
   * other file is left alone.
   */
  readonly socket: string
  /** A module whose default export is a `VfioUserHost`: `nativeHostModule` of `@gpunvme/cuda-native/host`. */
  readonly module: URL
  /** Drive profile. Default: 'ideal', which has no costs. Latencies are lower bounds: the machine adds its own. */
  readonly profile?: DriveProfile | ProfileName
  /** Seed, 0 to 2^32 - 1. Default: 1. */
  readonly seed?: number
  /** Namespaces; an empty list is a drive without any. Default: one of 1 GiB with 512-byte blocks, NSID 1. */
  readonly namespaces?: readonly RealTimeNamespace[]
  /** Fault plan. Its rules count over all clients, one after the other. */
  readonly faults?: FaultPlan
  /** A file that every event is written to as it happens. This costs time. */
  readonly trace?: TraceFileOptions
  /**
   * Makes doorbells memory that the client maps and the server polls while a client is connected, which uses a full
   * core; SPDK requires it. Default: each doorbell write is a message.
   */
  readonly mappedDoorbells?: boolean
}

/** Start options of the server's thread. */
export interface VfioUserWorkerOptions {
  readonly socket: string
  readonly module: string
  readonly profile: DriveProfile
  readonly seed: number
  readonly namespaces: readonly RealTimeNamespace[]
  readonly faults: FaultPlan | undefined
  readonly trace: TraceFileOptions | undefined
  readonly mappedDoorbells: boolean
  /** STATE and REQUESTS. */
  readonly control: SharedArrayBuffer
  /** An eventfd of the thread that starts this one, written when either has changed. */
  readonly wake: number
}

/** Words of `control`: the requested state, and the number of requests. */
export const STATE = 0
export const REQUESTS = 1
export const CONTROL_BYTES = 8
/** Value of STATE: the server must end. */
export const CLOSING = 1

const fields: Fields<VfioUserServerOptions> = {
  socket: text,
  module: instance(URL, "a URL, such as nativeHostModule of '@gpunvme/cuda-native/host'"),
  // Checked with their own errors.
  profile: optional(anything),
  faults: optional(anything),
  seed: optional(seedField),
  namespaces: optional(listOf(realTimeNamespace)),
  trace: optional(record<TraceFileOptions>({ path: text, format: oneOf(['text', 'jsonl', 'perfetto']) })),
  mappedDoorbells: optional(flag),
}

/** Options of `simulate` that are not supported here. */
const elsewhere = {
  spareCapacityBytes: 'only simulate() has spare capacity',
  hostMemoryBytes: 'the client provides the memory',
  rootComplex: 'only simulate() has a root complex',
}

/**
 * Checks options before a thread is started for them.
 * @throws TypeError or RangeError that names the option; FaultPlanError for an invalid plan.
 */
export function checkServerOptions(options: unknown): asserts options is VfioUserServerOptions {
  checkOptions('vfio-user server options', options, fields, elsewhere)
  if (options.faults !== undefined) checkFaultPlan(options.faults)
}
