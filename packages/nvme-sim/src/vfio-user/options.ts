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

/** What is served, and where. Everything but `module` and `socket` has a default. */
export interface VfioUserServerOptions {
  /**
   * Path of the socket to listen at, at most 107 bytes; its folder exists. A socket that nobody listens at is removed first,
   * any other file is left alone.
   */
  readonly socket: string
  /** A module whose default export is a `VfioUserHost`: `nativeHostModule` of `@gpunvme/cuda-native/host`. */
  readonly module: URL
  /** 'ideal', which costs no time, when not given. Latencies hold as lower bounds: the machine adds its own. */
  readonly profile?: DriveProfile | ProfileName
  /** 0 to 2^32 - 1; 1 when not given. */
  readonly seed?: number
  /** One of 1 GiB with 512-byte blocks, NSID 1, when not given; an empty list is a drive without any. */
  readonly namespaces?: readonly RealTimeNamespace[]
  /** Its rules count over all clients, one after the other. */
  readonly faults?: FaultPlan
  /** A file that everything is written to as it happens. Costs time. */
  readonly trace?: TraceFileOptions
  /**
   * Doorbells are memory that the client maps, and that the server polls for as long as there is a client, which takes a
   * processor: SPDK needs it. Otherwise each doorbell is a message.
   */
  readonly mappedDoorbells?: boolean
}

/** What the server's thread is started with. */
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
  /** An eventfd of the thread that starts this one: written to when either has changed. */
  readonly wake: number
}

/** Words of `control`: what the server is to do, and how many questions it was asked. */
export const STATE = 0
export const REQUESTS = 1
export const CONTROL_BYTES = 8
/** Value of STATE: the server is to end. */
export const CLOSING = 1

const fields: Fields<VfioUserServerOptions> = {
  socket: text,
  module: instance(URL, "a URL, as nativeHostModule of '@gpunvme/cuda-native/host'"),
  // With errors of their own.
  profile: optional(anything),
  faults: optional(anything),
  seed: optional(seedField),
  namespaces: optional(listOf(realTimeNamespace)),
  trace: optional(record<TraceFileOptions>({ path: text, format: oneOf(['text', 'jsonl', 'perfetto']) })),
  mappedDoorbells: optional(flag),
}

/** Options of `simulate` that are not here. */
const elsewhere = {
  spareCapacityBytes: 'only simulate() has spare capacity',
  hostMemoryBytes: "it is the client's memory",
  rootComplex: 'only simulate() has a root complex',
}

/**
 * Checks options before a thread is started for them.
 * @throws TypeError or RangeError that names the option; FaultPlanError for a plan that is none.
 */
export function checkServerOptions(options: unknown): asserts options is VfioUserServerOptions {
  checkOptions('vfio-user server options', options, fields, elsewhere)
  if (options.faults !== undefined) checkFaultPlan(options.faults)
}
