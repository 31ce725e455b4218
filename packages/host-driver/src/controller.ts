import type { inspect, InspectOptions } from 'node:util'
import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { AdminOptions } from './admin/admin-commands.js'
import {
  featureCapabilities,
  getFeature,
  type FeatureCapabilities,
  type FeatureValue,
  type GetFeatureOptions,
} from './admin/features.js'
import { identifyAs, type Decodable, type IdentifyOptions } from './admin/identify.js'
import { errorLog, logPage, smartLog, type ErrorLog, type LogPageOptions, type SmartLog } from './admin/log-page.js'
import { Management } from './management/management.js'
import { checkEngine } from './running/open-options.js'
import type { ControllerIdentity } from './bring-up/identity.js'
import type { Registers } from './bring-up/registers.js'
import type { ControllerEvent } from './events/controller-event.js'
import { guardController, type WriteRequest } from './guard/guard.js'
import { takeTransport } from './running/transports-in-use.js'
import type { Namespace } from './namespace/namespace.js'
import { NamespaceSet } from './namespace/namespace-set.js'
import type { WritableNamespace } from './namespace/writable-namespace.js'
import { checkOpenOptions, checkTransport, type ControllerOptions, type OpenOptions } from './running/open-options.js'
import type { RecoveryStep } from './events/controller-event.js'
import { RunningController } from './running/running-controller.js'
import type { Counters } from './execution/counters.js'

/** Counters of a controller handle since it was opened. */
export interface ControllerStatistics extends Readonly<Counters> {
  /** Number of times each recovery step was taken; `lost` is 1 once the controller is lost. */
  readonly recoveries: Readonly<Record<RecoveryStep | 'lost', number>>
}

/** A controller that was opened with `manage`. */
export type ManagedController = Controller<WritableNamespace> & { readonly management: Management }

/**
 * An NVMe controller, enabled and owned by this process. Bring-up follows Base 2.1 §3.5.1: disable, admin queues,
 * enable, Identify, I/O queues. An unresponsive controller is recovered, or declared lost, within `recoveryBoundNs`.
 * The caller keeps the transport, and closes it after the controller.
 */
export class Controller<N extends Namespace = Namespace> {
  private readonly running: RunningController
  private readonly set: NamespaceSet
  private readonly release: () => void
  private closing: Promise<void> | undefined

  /**
   * Opens a controller for reading: neither the handle nor its namespaces have methods that write.
   * @throws DeviceHeldError if this machine uses the drive, since bring-up resets the controller.
   */
  static open(
    transport: Transport,
    options?: ControllerOptions & { write?: never; manage?: never },
  ): Promise<Controller>
  /**
   * Opens a controller for writing. The serial number must match, and each namespace is searched for foreign data
   * before its first write.
   * @throws DriverError (SERIAL_MISMATCH); ForeignDataError at the first write; DeviceHeldError as for reading.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest; manage?: never },
  ): Promise<Controller<WritableNamespace>>
  /**
   * Opens a controller for writing and for changing the drive: `management` has features, formats, namespaces and raw
   * commands.
   * @throws same as for writing.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest; manage: true },
  ): Promise<ManagedController>
  /**
   * Opens a controller for writing if `write` is defined, which the compiler cannot tell.
   * @throws same as the two above.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest | undefined; manage?: never },
  ): Promise<Controller | Controller<WritableNamespace>>
  static async open(transport: Transport, options: OpenOptions = {}): Promise<Controller> {
    checkTransport(transport)
    checkOpenOptions(options)
    checkEngine(transport, options)
    // Opening for reading disrupts other users of the controller as well: bring-up resets it.
    await guardController(options.sysRoot ?? '/', transport)
    const release = takeTransport(transport)
    let running: RunningController
    try {
      running = new RunningController(transport, options, release)
      await running.open()
    } catch (error) {
      release()
      throw error
    }
    const namespaces = new NamespaceSet(running, options.write)
    const controller = new Controller(running, namespaces, release)
    if (options.manage !== true) return controller
    return Object.assign(controller, { management: new Management(running, namespaces, options.write!) })
  }

  private constructor(running: RunningController, namespaces: NamespaceSet, release: () => void) {
    this.running = running
    this.set = namespaces
    this.release = release
  }

  /** Identify data of the controller. */
  get identity(): ControllerIdentity {
    return this.running.session.identity
  }

  /** Active namespaces, always current, in increasing order of NSID. */
  get namespaces(): readonly N[] {
    return this.set.active as readonly N[]
  }

  /** Number of I/O queue pairs over which plans are spread. */
  get queues(): number {
    return this.running.session.queues.forPlans.length
  }

  /**
   * Maximum number of commands in flight on each of these queue pairs: the option, or what the queues hold if that is
   * less.
   */
  get queueDepth(): number {
    return this.running.session.queues.forPlans[0]!.maxInFlight
  }

  /** Maximum transfer of one command, in bytes. */
  get maxTransferBytes(): number {
    return this.running.session.maxTransferBytes
  }

  /**
   * Time limit of a recovery, in nanoseconds: the sum of the limits of all its steps. Commands in flight are waited for
   * before the first step, each until its own deadline. Default deadlines: 10 s, or 10 minutes for a format.
   */
  get recoveryBoundNs(): number {
    return this.running.recovery.boundNs
  }

  /** Counters since the handle was opened. */
  get statistics(): ControllerStatistics {
    const { counters, recovery } = this.running
    return { ...counters, recoveries: { ...recovery.counts } }
  }

  /** The controller's registers by their declarations in nvme-spec, for reading. */
  get registers(): Pick<Registers, 'read' | 'format'> {
    return this.running.session.registers
  }

  /** Returns an active namespace. @throws DriverError (NAMESPACE_NOT_FOUND), which lists the active ones. */
  namespace(nsid: number): N {
    return this.set.get(nsid) as N
  }

  /**
   * Sends Identify and decodes its data by a declaration of nvme-spec:
   * `identify(CNS.NAMESPACE, IdentifyNamespace, { nsid: 1 })`.
   * @throws CommandError
   */
  identify<T>(cns: number, structure: Decodable<T>, options?: IdentifyOptions): Promise<T> {
    return identifyAs(this.running, cns, structure, options)
  }

  /** Reads SMART / Health Information of the controller. Temperatures are in kelvins; long counters are bigints. */
  smartLog(options?: AdminOptions): Promise<SmartLog> {
    return smartLog(this.running, options)
  }

  /** Reads the latest errors that the controller has logged, the most recent first, at most `entries` of them. */
  errorLog(entries?: number, options?: AdminOptions): Promise<ErrorLog[]> {
    return errorLog(this.running, entries, options)
  }

  /**
   * Reads bytes of any log page, 4 KiB at a time. Asynchronous events of the page are retained.
   * @param lid `LID` of nvme-spec.
   * @throws RangeError; DriverError (UNSUPPORTED_COMMAND) for a part that needs an offset, if the controller does not
   *   support offsets (LPA.LPEDS); CommandError.
   */
  logPage(lid: number, options: LogPageOptions): Promise<DataView> {
    return logPage(this.running, lid, options)
  }

  /**
   * Reads a feature by its declaration in nvme-spec: `getFeature(TemperatureThreshold)`.
   * @throws CommandError; DriverError (UNSUPPORTED_COMMAND) for a value other than the current one, if ONCS.SSFS is 0.
   */
  getFeature<F extends AnyFeature>(feature: F, options?: GetFeatureOptions<F>): Promise<FeatureValue<F>> {
    return getFeature(this.running, feature, options)
  }

  /**
   * Returns whether a feature can be changed or saved, and whether it belongs to a namespace.
   * @throws same as `getFeature`.
   */
  featureCapabilities(
    feature: AnyFeature,
    options?: AdminOptions & { readonly nsid?: number },
  ): Promise<FeatureCapabilities> {
    return featureCapabilities(this.running, feature, options)
  }

  /**
   * Iterates over the events of the controller from now on: recoveries, health, changed namespaces. Ends when the
   * controller is closed or lost. Asynchronous events are noticed while commands are in flight and while the next event
   * is awaited. An event may be noticed only after the command that caused it has settled: a test must let the event
   * loop run once before it checks for events.
   *
   * On a virtual clock, as of a simulator, awaiting an event makes time pass while anything is scheduled, such as a
   * completion or a fault at a time. While nothing is scheduled, time stands still.
   */
  events(): AsyncIterableIterator<ControllerEvent> {
    return this.running.session.hub.subscribe(() => this.running.waitForEvents())
  }

  /**
   * Resets the controller (CC.EN to 0, Base 2.1 §3.7.2), then enables it and sets it up again as `open` does: queues,
   * Identify data, namespaces, events. If that fails, resets the function, as a recovery does; the steps are events,
   * and counted in `statistics.recoveries`. `recoveryBoundNs` limits them.
   *
   * Commands in flight are not cut off: the reset waits for each plan and command in progress, which their deadlines
   * and signals limit. A command without a completion by then is accounted for as in any recovery: reads are sent
   * again, the outcome of a write is unknown. Calls made meanwhile wait for the reset. Features that were set without
   * being saved return to their saved values.
   * @throws DeviceLostError if the controller is lost; DriverError (CONTROLLER_CLOSED).
   */
  reset(): Promise<void> {
    return this.running.reset()
  }

  /**
   * Shuts the controller down as specified (Base 2.1 §3.6.1) and frees its memory. Waits first for commands in flight,
   * which their own deadlines limit. May be called twice.
   * @throws DriverError (SHUTDOWN_INCOMPLETE) if the drive does not complete the shutdown; memory is freed
   *   nevertheless. DeviceLostError or DriverError (NOT_READY, TRANSPORT_CLOSED) if the controller cannot be disabled;
   *   its memory is then kept.
   */
  close(): Promise<void> {
    return (this.closing ??= this.running.close().finally(this.release))
  }

  /** Representation for `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: InspectOptions, show: typeof inspect): string {
    const { name, state, session } = this.running
    const found = this.set.active.map(({ nsid, blocks, blockBytes }) => ({ nsid, blocks, blockBytes }))
    return `Controller ${show({ name, state, model: session.identity.model, namespaces: found }, options)}`
  }

  /** Closes the controller: for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
