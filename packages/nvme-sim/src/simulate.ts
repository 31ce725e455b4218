import type { FaultReport } from '@gpunvme/nvme-spec/faults'
import type { Bar, FaultPlan, TraceSink, Transport } from '@gpunvme/nvme-spec/transport'
import { VirtualClock, type SimulationClock } from './time/clock.js'
import { Controller } from './controller/controller.js'
import { Device } from './controller/device.js'
import { Diagnostics } from './controller/diagnostics.js'
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

/** What is simulated; every part has a default. */
export interface SimulationOptions {
  /** What drive it is and what it costs; 'ideal', which costs no time, when not given. */
  readonly profile?: DriveProfile | ProfileName
  /** Decides everything that is random: the same seed gives the same run, to the nanosecond. 0 to 2^32 - 1; 1 when not given. */
  readonly seed?: number
  /** One of 1 GiB with 512-byte blocks, NSID 1, when not given; an empty list is a drive without any. */
  readonly namespaces?: readonly NamespaceOptions[]
  /** NVM capacity that no namespace has, for namespaces that the host creates; 0 when not given. */
  readonly spareCapacityBytes?: number
  /**
   * The machine that it is attached to, for several drives that share memory and time; one of its own when not given.
   * `hostMemoryBytes` and `fragmented` are the host's own options then.
   */
  readonly host?: SimulatedHost
  /** Most host memory that may be allocated at a time; 4 GiB when not given. */
  readonly hostMemoryBytes?: number
  /** Scatters the pages of DMA memory that was not asked to be contiguous. */
  readonly fragmented?: boolean
  readonly faults?: FaultPlan
  /** What a peer of the controller, as a GPU, may do with its registers; 'posted-only' when not given. */
  readonly rootComplex?: RootComplex
  /** Is given everything that happens, as it happens. Costs time: without it only a hash is kept. */
  readonly trace?: TraceSink
}

const fields: Fields<SimulationOptions> = {
  // These two have errors of their own.
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

/** A controller, the host memory it reaches, and the only clock there is. */
export interface Simulation {
  readonly transport: Transport
  /**
   * The controller's registers as a peer reaches them, as a GPU does, through the root complex: `transport.bar` with
   * what `rootComplex` does to it. `transport.can` says the same in two bits.
   */
  readonly peerBar: Bar
  /**
   * Takes power away from the drive and gives it back, at once. Without a shutdown before, SMART counts it as an
   * unexpected power loss. Host memory stays as it is; a link that was dropped comes up.
   */
  powerCycle(): void
  /**
   * Makes the drive hot, or worn: SMART says so, and an event is raised for what becomes a critical warning.
   * @throws RangeError for what SMART could not say.
   */
  setHealth(changes: HealthChanges): void
  readonly clock: SimulationClock
  /** What the controller has done so far; a fresh copy at each look. */
  readonly statistics: Statistics
  /** What the host did wrong, in a driver author's words; grows with the run. A test asserts that it is empty. */
  readonly diagnostics: readonly string[]
  /** What of the fault plan has really happened; its lists grow with the run. */
  readonly faults: FaultReport
  /** 16 hexadecimal digits that stand for everything that has happened, and when: equal for equal runs, on any machine. */
  readonly traceHash: string
}

/**
 * Starts a simulated NVMe controller.
 * @throws RangeError or TypeError, with its name, for an option that cannot be; FaultPlanError for a plan that is none.
 */
export function simulate(options: SimulationOptions = {}): Simulation {
  checkOptions('simulate options', options, fields)
  const { profile = 'ideal', seed = 1, host, faults } = options
  if (host !== undefined && (options.hostMemoryBytes ?? options.fragmented) !== undefined) {
    throw new TypeError(
      'simulate options: hostMemoryBytes and fragmented are options of the SimulatedHost that is given',
    )
  }
  const clock = host?.clock ?? new VirtualClock()
  const diagnostics = new Diagnostics()
  const memory = host?.memory ?? hostMemory(options)
  const gpu = host?.gpu?.dmaToVram === true ? host.gpu : undefined
  const namespaces = new Namespaces(options.namespaces ?? [{}], options.spareCapacityBytes)
  const device = new Device({
    clock,
    memory,
    namespaces,
    profile: profileOf(profile),
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
    peerBar,
    powerCycle: () => controller.powerCycle(),
    setHealth: (changes) => device.health.set(changes),
    clock,
    get statistics() {
      return statisticsOf(device)
    },
    diagnostics: liveView(diagnostics.lines),
    faults: device.faults.report(),
    get traceHash() {
      return device.trace.hash
    },
  }
}
