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
import { identify, type Decodable, type IdentifyOptions } from './admin/identify.js'
import { errorLog, logPage, smartLog, type ErrorLog, type LogPageOptions, type SmartLog } from './admin/log-page.js'
import { Management, type ManagementHost } from './admin/management.js'
import { checkEngine } from './check-engine.js'
import type { ControllerIdentity } from './bring-up/identity.js'
import type { Registers } from './bring-up/registers.js'
import { ADMIN_DATA_BYTES } from './bring-up/session.js'
import type { ControllerEvent } from './events/controller-event.js'
import { guardController, guardErase, type WriteRequest } from './guard/guard.js'
import { takeTransport } from './in-use-transports.js'
import type { Namespace } from './namespace/namespace.js'
import { WritableNamespace } from './namespace/writable-namespace.js'
import { checkOpenOptions, checkTransport, type ControllerOptions, type OpenOptions } from './open-options.js'
import type { RecoveryStep } from './recovery/recovery.js'
import { RunningController } from './running-controller.js'
import type { Counters } from './statistics.js'

/** What a handle has done and seen since it was opened. */
export interface ControllerStatistics extends Readonly<Counters> {
  /** How often each step of a recovery was taken, and 1 for `lost` once the controller is. */
  readonly recoveries: Readonly<Record<RecoveryStep | 'lost', number>>
}

/** A controller that was opened with `manage`. */
export type ManagedController = Controller<WritableNamespace> & { readonly management: Management }

/**
 * An NVMe controller, enabled and owned by this process. Bring-up follows Base 2.1 §3.5.1: disable, admin queues,
 * enable, Identify, I/O queues. A controller that stops answering is brought back, or declared lost, in bounded time:
 * `recoveryBoundNs`. The transport stays the caller's, and is closed by the caller.
 */
export class Controller<N extends Namespace = Namespace> {
  private readonly running: RunningController
  private readonly letGo: () => void
  private closing: Promise<void> | undefined

  /**
   * Opens for reading: no method of the handle, or of its namespaces, writes.
   * @throws DeviceHeldError when this machine uses the drive: bring-up resets the controller under it.
   */
  static open(
    transport: Transport,
    options?: ControllerOptions & { write?: never; manage?: never },
  ): Promise<Controller>
  /**
   * Opens for writing. The serial number has to be the controller's own, and before the first write to a namespace it
   * is searched for data that is not ours.
   * @throws SerialMismatchError; ForeignDataError at the first write; DeviceHeldError as for reading.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest; manage?: never },
  ): Promise<Controller<WritableNamespace>>
  /**
   * Opens for writing, and for what changes the drive itself: `management` has features, formats, namespaces, and
   * commands as they are.
   * @throws as for writing.
   */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest; manage: true },
  ): Promise<ManagedController>
  /** Opens for writing where `write` is given, which only the caller knows. @throws as the two above. */
  static open(
    transport: Transport,
    options: ControllerOptions & { write: WriteRequest | undefined; manage?: never },
  ): Promise<Controller | Controller<WritableNamespace>>
  static async open(transport: Transport, options: OpenOptions = {}): Promise<Controller> {
    checkTransport(transport)
    checkOpenOptions(options)
    checkEngine(transport, options)
    // Reading takes the controller from whoever has it just as writing does: bring-up begins with a reset.
    await guardController(options.sysRoot ?? '/', transport)
    const letGo = takeTransport(transport)
    let running: RunningController
    try {
      running = new RunningController(transport, options, letGo)
      await running.open()
    } catch (error) {
      letGo()
      throw error
    }
    const controller = new Controller(running, letGo)
    if (options.manage !== true) return controller
    return Object.assign(controller, { management: new Management(managementHost(running, options.write!)) })
  }

  private constructor(running: RunningController, letGo: () => void) {
    this.running = running
    this.letGo = letGo
  }

  /** What the controller said of itself. */
  get identity(): ControllerIdentity {
    return this.running.session.identity
  }

  /** The active namespaces as they are now, in increasing order of NSID. */
  get namespaces(): readonly N[] {
    return this.running.namespaces.active as readonly N[]
  }

  /** I/O queue pairs that plans are spread over. */
  get queues(): number {
    return this.running.session.engineQueues.length
  }

  /** Commands in flight on each of them. */
  get queueDepth(): number {
    return this.running.session.engineQueues[0]!.maxInFlight
  }

  /** The longest transfer of one command. */
  get maxTransferBytes(): number {
    return this.running.session.maxTransferBytes
  }

  /**
   * The longest that the steps of a recovery may take, when every one is taken and fails. Before the first, what is under
   * way is waited for, each command until its own deadline: 10 s when not given, of a format 10 minutes.
   */
  get recoveryBoundNs(): number {
    return this.running.recovery.boundNs
  }

  get statistics(): ControllerStatistics {
    const { counters, recovery } = this.running
    return { ...counters, recoveries: { ...recovery.counts } }
  }

  /** The controller's registers, by their declarations, to look at. */
  get registers(): Pick<Registers, 'read' | 'format'> {
    return this.running.session.registers
  }

  /** @throws NamespaceNotFoundError naming the ones there are. */
  namespace(nsid: number): N {
    return this.running.namespaces.get(nsid) as N
  }

  /**
   * What Identify returns, decoded: `identify(CNS.NAMESPACE, IdentifyNamespace, { nsid: 1 })`, by declarations of
   * nvme-spec.
   * @throws CommandError
   */
  async identify<T>(cns: number, structure: Decodable<T>, options?: IdentifyOptions): Promise<T> {
    return structure.decode(await identify(this.running.adminCommands, cns, options))
  }

  /** SMART / Health Information of the controller. Temperatures are in kelvins, long counters bigints. */
  smartLog(options?: AdminOptions): Promise<SmartLog> {
    return smartLog(this.running.adminCommands, options)
  }

  /** The latest errors that the controller has logged, the most recent first, at most `entries` of them. */
  errorLog(entries?: number, options?: AdminOptions): Promise<ErrorLog[]> {
    return errorLog(this.running.adminCommands, entries, options)
  }

  /**
   * Bytes of any log page, read 4 KiB at a time; events that the page belongs to are retained.
   * @param lid `LID` of nvme-spec.
   * @throws RangeError, UnsupportedCommandError for a part that only an offset reaches (LPA.LPEDS), CommandError.
   */
  logPage(lid: number, options: LogPageOptions): Promise<DataView> {
    return logPage(this.running.adminCommands, lid, options)
  }

  /**
   * The value of a feature, by its declaration in nvme-spec: `getFeature(TemperatureThreshold)`.
   * @throws CommandError; UnsupportedCommandError for another value than the current one (ONCS.SSFS).
   */
  getFeature<F extends AnyFeature>(feature: F, options?: GetFeatureOptions<F>): Promise<FeatureValue<F>> {
    return getFeature(this.running.adminCommands, feature, options)
  }

  /** Whether a feature can be changed, saved, or is of a namespace. @throws as `getFeature`. */
  featureCapabilities(
    feature: AnyFeature,
    options?: AdminOptions & { readonly nsid?: number },
  ): Promise<FeatureCapabilities> {
    return featureCapabilities(this.running.adminCommands, feature, options)
  }

  /**
   * What happens to the controller from now on: recoveries, health, namespaces that come and go. It ends when the
   * controller is closed or lost. Asynchronous events are noticed while commands are in flight, and while the next
   * event is waited for. On a virtual clock, as a simulator has, that wait is what makes time pass: it runs on, 100 ms
   * or up to the next thing that happens at once, as fast as the machine can, until the iteration is left.
   */
  events(): AsyncIterableIterator<ControllerEvent> {
    return this.running.hub.subscribe(() => this.running.waitForEvents())
  }

  /**
   * Shuts the controller down as the specification asks, and gives all its memory back. Waits for what is in flight,
   * which is bounded by its own deadlines. Closing twice is harmless.
   * @throws ShutdownIncompleteError when the drive does not finish; everything is given back all the same.
   * DeviceLostError, ControllerNotReadyError when it cannot even be disabled; then its memory is kept.
   */
  close(): Promise<void> {
    return (this.closing ??= this.running.close().finally(this.letGo))
  }

  /** What `console.log` shows. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: InspectOptions, show: typeof inspect): string {
    const { name, state, session, namespaces } = this.running
    const found = namespaces.active.map(({ nsid, blocks, blockBytes }) => ({ nsid, blocks, blockBytes }))
    return `Controller ${show({ name, state, model: session.identity.model, namespaces: found }, options)}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function managementHost(running: RunningController, write: WriteRequest): ManagementHost {
  const { session, inUse, adminCommands, namespaces } = running
  return {
    admin: adminCommands,
    dma: session.lent,
    pageBytes: session.limits.pageBytes,
    mostBytes: { admin: Math.min(ADMIN_DATA_BYTES, session.maxTransferBytes), io: session.maxTransferBytes },
    inUse,
    get namespaces() {
      return namespaces.active.filter((each) => each instanceof WritableNamespace)
    },
    checkOpen: () => running.checkOpen(),
    onceIo: (run) => running.onceIo(run),
    guardErase: (nsid) => guardErase(namespaces.attachedOrNot(nsid), write),
    changed: (nsids) => running.namespacesChanged(nsids),
  }
}
