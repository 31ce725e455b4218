import type { FaultReport } from '@gpunvme/nvme-spec/faults'
import type { Bar, FaultPlan, TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { VirtualClock, type SimulationClock } from './time/clock.js'
import { Controller } from './controller/controller.js'
import { Device } from './controller/device.js'
import { Diagnostics, type Diagnostic } from './controller/diagnostics.js'
import { liveView } from './controller/live-view.js'
import type { HealthChanges } from './logs/health.js'
import { AttachedMemory } from './memory/attached-memory.js'
import type { NamespaceOptions } from './nvm/namespace.js'
import { Namespaces } from './nvm/namespaces.js'
import { namespaceFields } from './nvm/namespace-options.js'
import {
  anything,
  bytes,
  callback,
  checkOptions,
  flag,
  instance,
  listOf,
  optional,
  record,
  seedField,
  type Fields,
} from './options.js'
import { profileOf, type ProfileName } from './profiles/index.js'
import type { DriveProfile } from './profiles/profile.js'
import { statisticsOf, type Statistics } from './controller/statistics.js'
import { rootComplexField, type RootComplex } from './pci/root-complex.js'
import { hostMemory, SimulatedHost } from './simulated-host.js'
import { simulatedTransport } from './transport.js'

/** Options of a simulation. All are optional. */
export interface SimulationOptions {
  /** Drive profile. Default: 'ideal', which has no costs. */
  readonly profile?: DriveProfile | ProfileName
  /** Seed of everything random: the same seed gives the same run, to the nanosecond. 0 to 2^32 - 1. Default: 1. */
  readonly seed?: number
  /** Namespaces; an empty list is a drive without any. Default: one of 1 GiB with 512-byte blocks, NSID 1. */
  readonly namespaces?: readonly NamespaceOptions[]
  /** Unallocated NVM capacity, for namespaces that the host creates. Default: 0. */
  readonly spareCapacityBytes?: number
  /**
   * Host to attach the drive to, for several drives that share memory and time. `hostMemoryBytes` and `fragmented` are
   * then options of the host. Default: a host of its own.
   */
  readonly host?: SimulatedHost
  /** Maximum host memory allocated at a time. Default: 4 GiB. */
  readonly hostMemoryBytes?: number
  /** Scatters the pages of DMA memory that need not be contiguous. */
  readonly fragmented?: boolean
  readonly faults?: FaultPlan
  /** Accesses that a peer of the controller, such as a GPU, may make to its registers. Default: 'posted-only'. */
  readonly rootComplex?: RootComplex
  /** Receives every event as it happens. This costs time; without it only a hash is kept. */
  readonly trace?: TraceSink
}

const fields: Fields<SimulationOptions> = {
  // These two are checked with their own errors.
  profile: optional(anything),
  faults: optional(anything),
  seed: optional(seedField),
  namespaces: optional(listOf(record(namespaceFields))),
  spareCapacityBytes: optional(bytes(0)),
  host: optional(instance(SimulatedHost, 'a SimulatedHost')),
  hostMemoryBytes: optional(bytes(0)),
  fragmented: optional(flag),
  rootComplex: optional(rootComplexField),
  trace: optional(callback),
}

/** A simulated controller, with the host memory that it accesses and its clock. */
export interface Simulation {
  readonly transport: Transport
  /**
   * Serial number of the drive, as in Identify Controller. A driver may require it before it writes. Drives with the
   * same profile have the same serial number; set another with `deriveProfile` (`identify.SN`).
   */
  readonly serial: string
  /**
   * The controller's registers as seen by a peer, such as a GPU: `transport.bar` through the root complex of
   * `rootComplex`. `transport.can` summarizes it in two flags.
   */
  readonly peerBar: Bar
  /**
   * Power-cycles the drive immediately. Without a prior shutdown, SMART counts it as an unexpected power loss. Host
   * memory is kept, and so is all written data, flushed or not; a dropped link comes up.
   */
  powerCycle(): void
  /**
   * Makes the drive hot or worn. SMART reports it, and a new critical warning raises an event.
   * @throws RangeError for values that SMART cannot represent.
   */
  setHealth(changes: HealthChanges): void
  readonly clock: SimulationClock
  /** Counters of the controller; a new copy on each access. */
  readonly statistics: Statistics
  /** Mistakes of the host, oldest first. Grows during the run, to 1000 entries; a test asserts that it is empty. */
  readonly diagnostics: readonly Diagnostic[]
  /** What the fault plan has done so far; its lists grow during the run. */
  readonly faults: FaultReport
  /** 64-bit hash of all events and their times, in hexadecimal: equal for equal runs, on any machine. */
  readonly traceHash: string
}

/**
 * Starts a simulated NVMe controller.
 * @throws RangeError or TypeError, with its name, for an invalid option; FaultPlanError for an invalid plan.
 */
export function simulate(options: SimulationOptions = {}): Simulation {
  checkOptions('simulate options', options, fields)
  const { seed = 1, host, faults, profile: chosen = 'ideal' } = options
  const profile = profileOf(chosen)
  if (host !== undefined && (options.hostMemoryBytes ?? options.fragmented) !== undefined) {
    throw new TypeError('simulate options: with host, set hostMemoryBytes and fragmented in the SimulatedHost')
  }
  const clock = host?.clock ?? new VirtualClock()
  const diagnostics = new Diagnostics(clock)
  const memory = host?.memory ?? hostMemory(options)
  const gpu = host?.gpu?.dmaToVram === true ? host.gpu : undefined
  const namespaces = new Namespaces(options.namespaces ?? [{}], options.spareCapacityBytes)
  const device = new Device({
    clock,
    memory,
    namespaces,
    profile,
    diagnostics,
    faults,
    seed,
    trace: options.trace,
    gpuLink: gpu?.link,
  })
  const controller = new Controller(device)
  const { transport, peerBar } = simulatedTransport(
    controller,
    device,
    new AttachedMemory(memory),
    clock,
    options.rootComplex,
    gpu !== undefined,
  )
  return {
    transport,
    serial: profile.identify.SN ?? '',
    peerBar,
    powerCycle: () => controller.powerCycle(),
    setHealth: (changes) => device.health.set(changes),
    clock,
    get statistics() {
      return statisticsOf(device)
    },
    diagnostics: liveView(diagnostics.entries),
    faults: device.faults.report(),
    get traceHash() {
      return device.trace.hash
    },
  }
}
