import { CC, CSTS } from '@gpunvme/nvme-spec'
import type { Bar, DmaMemory, Engine, FaultPlan, Transport } from '@gpunvme/nvme-spec/transport'
import { faulty, type ControllerOptions, type FaultyTransport } from '../src/index.js'
import { NS_PER_MS, waitUntil } from './time.js'
import type { DriverCase } from './case.js'
import {
  hostDriver,
  asCaseController,
  type DriverOptions,
  type DriverUnderTest,
  type CaseController,
  type CaseNamespace,
} from './driver.js'
import { check, fail, notApplicable, refused, type ExpectedError } from './check.js'
import type { OpenedTransport, OpenTransport, TransportRequest } from './request.js'
import { Watch } from './watch.js'

/** Changes of a transport, between it and the driver. */
export interface TransportChanges {
  /** Faults of register accesses; see `faulty`. */
  readonly faults?: FaultPlan
  /** Returns replacements of register accesses. */
  readonly bar?: (bar: Bar) => Partial<Bar>
  /** Returns replacements of properties of the transport. */
  readonly transport?: (transport: Transport) => Partial<Transport>
}

/** A transport that a case has opened. */
export interface Device extends Watch {
  readonly serial: string
  /** Faults that have occurred; undefined without `Between.faults`. */
  readonly faults: FaultyTransport['faults'] | undefined
  /** Whether commands of plans and their doorbell writes are observed, as with the driver's own engine. */
  readonly observesPlans: boolean
}

/** A controller that a case has opened, with a namespace for its commands. */
export interface Opened {
  readonly device: Device
  readonly ctrl: CaseController
  /** First namespace that can be read and written. */
  readonly ns: CaseNamespace
  /** An LBA in the middle of the namespace, a multiple of 64, from which cases may write. */
  readonly lba: number
  /** Allocates memory that is freed at the end of the case. */
  readonly alloc: (lengthBytes: number) => DmaMemory
}

/** Returns whether a namespace can be read and written: all namespaces of a driver without `identity` can. */
function isSupported(namespace: CaseNamespace): boolean {
  return !('identity' in namespace) || namespace.identity.unsupported === undefined
}

const DISABLE_NS = 30_000 * NS_PER_MS

/** Creates an engine for a controller, on its original transport. */
export type MakeEngine = (transport: Transport) => Engine

/** The implementations under test. */
export interface Implementations {
  /**
   * Creates the engine of the controllers that cases open. Default: the driver's own. The engine uses the original
   * transport, so that changes by a case do not affect it; cases that depend on such changes are skipped.
   */
  readonly engine?: MakeEngine
  /**
   * Queues that this engine supports. `powers of two`: the number of entries must be a power of two, and every
   * submission queue needs a separate completion queue; cases with other queues are skipped. Default: any.
   */
  readonly rings?: 'any' | 'powers of two'
  /** The driver. Default: this package's `Controller`. */
  readonly driver?: DriverUnderTest
}

/** Environment of a case. Closes all controllers and transports that the case opens. */
export class DriverContext {
  private readonly each: DriverCase
  private readonly openTransport: OpenTransport
  private readonly makeEngine: MakeEngine | undefined
  private readonly rings: Implementations['rings']
  private readonly driver: DriverUnderTest | undefined
  private readonly opened: { readonly given: OpenedTransport; readonly device: Device }[] = []
  private readonly controllers: CaseController[] = []
  private readonly memories: { readonly memory: DmaMemory; readonly watch: Watch }[] = []

  constructor(each: DriverCase, openTransport: OpenTransport, { engine, rings, driver }: Implementations = {}) {
    this.each = each
    this.openTransport = openTransport
    this.makeEngine = engine
    this.rings = rings
    this.driver = driver
  }

  /** Opens a transport as the case requires, with its controller disabled. @throws NotApplicable if there is none. */
  async device(between: TransportChanges = {}, request: TransportRequest = {}): Promise<Device> {
    const given = await this.openTransport({ ...this.each.needs, ...request })
    if (typeof given === 'string') return notApplicable(given)
    let { transport } = given
    let faults: FaultyTransport['faults'] | undefined
    if (between.faults !== undefined) {
      if (
        transport.reset === undefined &&
        between.faults.rules.some(({ action }) => action.kind === 'surprise-reset')
      ) {
        await given.transport.close()
        return notApplicable(`${transport.name} cannot reset its function`)
      }
      const wrapped = faulty(transport, between.faults)
      transport = wrapped
      faults = wrapped.faults
    }
    if (between.bar !== undefined) {
      transport = { ...transport, bar: changedBar(transport.bar, between.bar), wraps: transport }
    }
    if (between.transport !== undefined) transport = { ...transport, ...between.transport(transport) }
    const observesPlans = this.makeEngine === undefined
    const device = Object.assign(new Watch(transport), { serial: given.serial, faults, observesPlans })
    this.opened.push({ given, device })
    return device
  }

  /** Whether changes of a transport also affect the engine. */
  get affectsEngine(): boolean {
    return this.makeEngine === undefined
  }

  /** Opens a controller for writing, on a new device or on `on`. */
  async open(options: ControllerOptions = {}, between?: TransportChanges, on?: Device): Promise<Opened> {
    const device = on ?? (await this.device(between))
    const write = { serial: device.serial }
    const ctrl = await this.bringUp(device.transport, { ...options, ...this.engineFor(device, options), write })
    this.controllers.push(ctrl)
    const ns = ctrl.namespaces.find(isSupported)
    if (ns === undefined) return fail('expected: a namespace that can be read and written')
    const lba = Math.floor(ns.blocks / 128) * 64
    return { device, ctrl, ns, lba, alloc: (lengthBytes) => this.alloc(ns, device, lengthBytes) }
  }

  /** Opens a controller with the driver under test; the case closes it. */
  async bringUp(transport: Transport, options?: DriverOptions): Promise<CaseController> {
    if (this.driver === undefined) return hostDriver.open(transport, options)
    return asCaseController(await this.driver.open(transport, options))
  }

  /** Opens a controller for reading; closes it at the end of the case. */
  async openReadOnly(device: Device, options: ControllerOptions = {}): Promise<CaseController> {
    const ctrl = await this.bringUp(device.transport, { ...this.engineFor(device, options), ...options })
    this.controllers.push(ctrl)
    return ctrl
  }

  /** Checks that an action throws or rejects as expected; returns the error. */
  expectRejected(what: string, action: () => unknown, expected: ExpectedError): Promise<Error> {
    const isOurs = this.driver === undefined || this.driver === hostDriver
    return refused(what, action, isOurs ? expected : { ...expected, says: [] })
  }

  /**
   * Returns options of `Controller.open` for the engine under test; none if `options` already have an engine.
   * @throws NotApplicable if the engine does not support the queues of `options`.
   */
  engineFor(device: Device, options: ControllerOptions = {}): Pick<ControllerOptions, 'engine' | 'allowInnerEngine'> {
    const found = this.opened.find((each) => each.device === device)
    if (found === undefined || this.makeEngine === undefined || options.engine !== undefined) return {}
    if (this.rings === 'powers of two') needsPowersOfTwo(options)
    return { engine: this.makeEngine(found.given.transport), allowInnerEngine: true }
  }

  /** Allocates memory that is freed at the end of the case. */
  alloc({ dma }: CaseNamespace, watch: Watch, lengthBytes: number): DmaMemory {
    const memory = dma.alloc(lengthBytes)
    this.memories.push({ memory, watch })
    return memory
  }

  /**
   * Closes controllers, then checks that all memory was freed and that the device reports no host mistakes.
   */
  async finish(): Promise<void> {
    for (const ctrl of this.controllers) await ctrl.close()
    const { each } = this
    if (!each.losesController) {
      for (const { memory } of this.memories.splice(0)) memory.free()
      for (const { device } of this.opened) {
        check(device.heldBytes === 0, `all memory freed, got ${device.heldBytes} bytes left`)
      }
    }
    for (const { given } of this.opened) {
      const mistakes = each.provokesMistakes ? [] : ((await given.mistakes?.()) ?? [])
      if (mistakes.length > 0) fail(`the device reports host mistakes:\n${mistakes.join('\n')}`)
    }
  }

  /** Releases everything that is open, however the case ended. */
  async release(): Promise<void> {
    for (const ctrl of this.controllers.splice(0)) await ctrl.close().catch(() => undefined)
    this.memories.length = 0
    for (const { given, device } of this.opened.splice(0)) {
      // Before memory is freed, the controller must be unable to access it.
      const stopped = await disable(given.transport)
      if (stopped) device.freeAll()
      await device.transport.close()
    }
  }
}

/** Disables a controller through the original registers, without faults; returns whether it has stopped. */
async function disable({ bar, clock }: Transport): Promise<boolean> {
  const configuration = bar.read32(CC.offset)
  if (configuration === 0xffff_ffff) return false
  bar.write32(CC.offset, configuration & ~(1 << CC.EN.lsb))
  return waitUntil(clock, DISABLE_NS, () => CSTS.RDY.of(bar.read32(CSTS.offset)) === 0)
}

function needsPowersOfTwo({ queues = 1, completionQueues = queues, queueEntries = 2 }: ControllerOptions): void {
  if (!Number.isInteger(Math.log2(queueEntries))) {
    notApplicable(`the engine needs queues with a power of two of entries; the case uses ${queueEntries}`)
  }
  if (completionQueues < queues) notApplicable('the engine needs a completion queue for each submission queue')
}

function changedBar(bar: Bar, change: (bar: Bar) => Partial<Bar>): Bar {
  return {
    lengthBytes: bar.lengthBytes,
    read32: (offset) => bar.read32(offset),
    read64: (offset) => bar.read64(offset),
    write32: (offset, value) => bar.write32(offset, value),
    write64: (offset, value) => bar.write64(offset, value),
    ...change(bar),
  }
}
