import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import {
  AEI_NOTICE,
  AET,
  AsyncEventDw0,
  AsyncEventRequest,
  AsynchronousEventConfiguration,
  ChangedAttachedNamespaceList,
  FID,
  formatAsyncEvent,
  GetLogPage,
  IdentifyController,
  LID,
  logPagePart,
  SetFeatures,
  SmartHealthLog,
} from '@gpunvme/nvme-spec'
import { DeviceLostError } from '../commands/device-lost.js'
import type { Session, SetupStep } from './session.js'
import type { CommandQueue } from '../commands/command-queue.js'
import { CommandError } from '../commands/errors.js'
import { NS_PER_MS } from '../wait.js'
import type { ControllerEvent } from '../events/controller-event.js'

/**
 * Maximum number of outstanding Asynchronous Event Requests. More are of no use: the controller masks events of a type until
 * the host reads their log page. It also limits the events that wait to be handled, for any rate of events.
 */
const MAX_REQUESTS = 4

/**
 * Maximum number of requests sent again in a window of time. Further ones are sent after it, so that a controller that
 * does not mask events leaves time for I/O. A working controller reports a few events a minute.
 */
const MAX_REQUESTS_PER_WINDOW = 16
const WINDOW_NS = 100 * NS_PER_MS

const LOG_BYTES = 512

/** First entry of a Changed Attached Namespace List that has no room for all changes (Base 2.3 §5.2.12.1.5). */
const MORE_THAN_LISTED = 0xffff_ffff

/** Spare, temperature, reliability, read-only media, volatile backup: warnings that every controller has. */
const WARNINGS = 0x1f

/** A completed request. */
interface Arrival {
  readonly dw0: number
  readonly timeNs: number
  /** The start of the controller at which it was requested. */
  readonly start: number
}

/** Parts of a session that the handling of events uses. */
export interface EventHost {
  /** Sends an admin command that may be sent twice. */
  admin<T>(run: (queue: CommandQueue) => Promise<T>): Promise<T>
  emit(event: ControllerEvent): void
  now(): number
  /** Identifies the namespaces again after a change. */
  namespacesChanged(): Promise<void>
  /** Called for namespaces that may have changed but could not be identified. @param nsids undefined for all. */
  namespacesOutdated(nsids: Iterable<number> | undefined): void
}

/**
 * Keeps Asynchronous Event Requests outstanding, and turns their completions into events (Base 2.1 §5.1.2). Reads the
 * log page of every event, since the controller masks further events of that type until then. Events of one log page
 * are handled together, and their requests are sent again at a limited rate.
 */
export class AsyncEvents implements SetupStep {
  private readonly host: EventHost
  private readonly handling = new Set<Promise<void>>()
  /** Events that wait for the one that is being handled, by log page. */
  private readonly waiting = new Map<number, Arrival[]>()
  /** Requests that wait for the end of the window or for room in the Admin queue, and requests left in this window. */
  private heldBack = 0
  private left = MAX_REQUESTS_PER_WINDOW
  private windowEndNs = 0
  private notices: { readonly NAN?: number; readonly FAN?: number } = {}
  /** Changed namespaces that could not be identified, by NSID; undefined if no change can have been missed. */
  private missed: ReadonlySet<number> | undefined
  /** The controller was not told to report changes of namespaces, although it can. */
  private isUnconfigured = false
  /** Critical warnings that were reported, as bits of CW. */
  private reportedWarnings = 0
  private stopped = false
  /** Number of controller starts: a reset aborts earlier requests. */
  private start = 0

  constructor(host: EventHost) {
    this.host = host
  }

  async apply(session: Session): Promise<void> {
    const { OAES } = IdentifyController.view(session.identity.raw)
    // OAES has the bits of notices at the same positions, and says which of them the controller supports.
    this.notices = AsynchronousEventConfiguration.CDW11.decode(OAES)
    try {
      await this.configure(session.admin)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.host.emit({
        kind: 'refused',
        timeNs: this.host.now(),
        feature: 'asynchronous events of health and namespaces',
        reason: error.message,
      })
    }
    // Bring-up has just identified all namespaces.
    this.missed = this.isUnconfigured ? new Set() : undefined
    const requests = Math.min(session.identity.eventRequests, MAX_REQUESTS)
    this.start++
    this.heldBack = 0
    for (let i = 0; i < requests; i++) this.request(session.admin, this.start)
  }

  /** Stops handling new events; resolves when those in progress are handled. */
  async stop(): Promise<void> {
    this.stopped = true
    await Promise.all(this.handling)
  }

  /**
   * Identifies namespaces again, in the background, if changes can have been missed: the last attempt failed, the log of
   * changes could not be read, or the controller does not report changes. Does nothing while an attempt is in progress.
   * Called for a status that contradicts the known identity, and for I/O to an outdated namespace: one attempt per call.
   */
  retryNamespaces(): void {
    if (this.missed === undefined || this.stopped) return
    this.inBackground(
      this.identifyNamespaces(this.host.now()).catch((error: unknown) =>
        this.report('Changed namespaces could not be identified', error),
      ),
    )
  }

  private request(admin: CommandQueue, start: number): void {
    const isHeld = admin.hold(AsyncEventRequest, {}, (status, dw0) => {
      // Any status but success means that the request was not held: a new one would end at once as well.
      if (status !== 0 || this.stopped) return
      this.arrived({ dw0, timeNs: this.host.now(), start })
    })
    // The Admin queue is full.
    if (!isHeld) this.heldBack++
  }

  /** Whether requests wait; `resume` then sends them. */
  get isHoldingBack(): boolean {
    return this.heldBack > 0
  }

  /** Sends the waiting requests after the end of the window. Call whenever events are polled. */
  resume(): void {
    if (this.heldBack === 0 || this.stopped || this.host.now() < this.windowEndNs) return
    const starts = new Array<number>(this.heldBack).fill(this.start)
    this.heldBack = 0
    this.inBackground(this.requestAgain(starts))
  }

  private arrived(arrival: Arrival): void {
    const lid = AsyncEventDw0.LID.of(arrival.dw0)
    const waiting = this.waiting.get(lid)
    if (waiting !== undefined) waiting.push(arrival)
    else {
      this.waiting.set(lid, [arrival])
      this.inBackground(this.takePage(lid))
    }
  }

  private inBackground(action: Promise<void>): void {
    const work = action.finally(() => this.handling.delete(work))
    this.handling.add(work)
  }

  /** Handles events of a log page until none waits. Never rejects: errors are reported as events. */
  private async takePage(lid: number): Promise<void> {
    // Events that complete together are handled together. Other tasks of this process get a turn, too.
    await nextTurn()
    for (let arrivals = this.waiting.get(lid)!; arrivals.length > 0; arrivals = this.waiting.get(lid)!) {
      this.waiting.set(lid, [])
      await this.take(lid, arrivals)
    }
    this.waiting.delete(lid)
  }

  /** Handles each event once, however often it was reported, then requests the next ones. */
  private async take(lid: number, arrivals: readonly Arrival[]): Promise<void> {
    const events = arrivals.filter((each, index) => arrivals.findIndex(({ dw0 }) => dw0 === each.dw0) === index)
    try {
      await this.handle(lid, events)
    } catch (error) {
      if (error instanceof DeviceLostError) return
      const texts = events.map(({ dw0 }) => formatAsyncEvent(dw0)).join('; ')
      this.report(`${texts}; it could not be handled`, error)
    }
    await this.requestAgain(arrivals.map(({ start }) => start))
  }

  private async requestAgain(starts: readonly number[]): Promise<void> {
    try {
      await this.host.admin((admin) => {
        // A reset aborts requests, and the setup after it sends as many again.
        for (const start of starts) if (!this.stopped && start === this.start) this.requestInWindow(admin, start)
        return Promise.resolve()
      })
    } catch (error) {
      this.report('No further event can be requested', error)
    }
  }

  private requestInWindow(admin: CommandQueue, start: number): void {
    const nowNs = this.host.now()
    if (nowNs >= this.windowEndNs) {
      this.windowEndNs = nowNs + WINDOW_NS
      this.left = MAX_REQUESTS_PER_WINDOW
    }
    if (this.left === 0) this.heldBack++
    else {
      this.left--
      this.request(admin, start)
    }
  }

  private report(failure: string, error: unknown): void {
    // The loss of the controller is an event of its own.
    if (error instanceof DeviceLostError) return
    this.host.emit({ kind: 'error', timeNs: this.host.now(), text: `${failure}: ${(error as Error).message}` })
  }

  /** Handles different events of a log page, which is read once for all of a kind. */
  private async handle(lid: number, events: readonly Arrival[]): Promise<void> {
    const { host } = this
    const health = events.filter(({ dw0 }) => isHealth(dw0))
    const changes = events.filter(({ dw0 }) => isNamespaceChange(dw0))
    const others = events.filter(({ dw0 }) => !isHealth(dw0) && !isNamespaceChange(dw0))
    if (health.length > 0) {
      const criticalWarning = await this.takeWarnings()
      for (const { dw0, timeNs } of health)
        host.emit({ kind: 'health', timeNs, text: formatAsyncEvent(dw0), criticalWarning })
    }
    if (changes.length > 0) await this.identifyNamespaces(changes[0]!.timeNs)
    if (others.length > 0) {
      await this.readLog(lid)
      for (const { dw0, timeNs } of others) {
        const kind = AsyncEventDw0.AET.of(dw0) === AET.ERROR_STATUS ? 'error' : 'notice'
        host.emit({ kind, timeNs, text: formatAsyncEvent(dw0) })
      }
    }
  }

  /** Reads which namespaces have changed and identifies all. What an earlier attempt missed is part of the event. */
  private async identifyNamespaces(timeNs: number): Promise<void> {
    const { host } = this
    const nsids = new Set(this.missed)
    this.missed = undefined
    const isListed = await this.listChanged(nsids)
    try {
      await host.namespacesChanged()
    } catch (error) {
      this.missed = nsids
      host.namespacesOutdated(isListed && !nsids.has(MORE_THAN_LISTED) ? nsids : undefined)
      throw error
    }
    // Until its log is read, the controller reports no further change.
    if (this.isUnconfigured || !isListed) this.missed = new Set()
    host.emit({ kind: 'namespaces-changed', timeNs, nsids: [...nsids].sort((a, b) => a - b) })
  }

  /** Adds the namespaces that the log lists. Returns false if it cannot be read; all are identified nevertheless. */
  private async listChanged(nsids: Set<number>): Promise<boolean> {
    // A controller without this event need not have the log.
    if (!this.notices.NAN) return true
    try {
      const log = await this.readLog(LID.CHANGED_ATTACHED_NAMESPACE_LIST)
      for (const nsid of ChangedAttachedNamespaceList.view(log).NSID) if (nsid !== 0) nsids.add(nsid)
      return true
    } catch (error) {
      this.report('The log of changed namespaces could not be read', error)
      return false
    }
  }

  /** Records namespaces that could not be identified after a command of this handle. */
  miss(nsids: readonly number[]): void {
    this.missed = new Set([...(this.missed ?? []), ...nsids])
    this.host.namespacesOutdated(nsids)
  }

  /**
   * Returns the current critical warnings. A warning lasts, so clearing its event would raise it again at once. It is
   * therefore masked first, and reported once.
   */
  private async takeWarnings(): Promise<number> {
    const { CW } = SmartHealthLog.view(await this.readLog(LID.SMART_HEALTH_INFORMATION, 'retain'))
    this.reportedWarnings |= CW
    await this.host.admin((admin) => this.configure(admin))
    await this.readLog(LID.SMART_HEALTH_INFORMATION)
    return CW
  }

  private async configure(admin: CommandQueue): Promise<void> {
    const CDW11 = AsynchronousEventConfiguration.CDW11.encode({
      SHCW: WARNINGS & ~this.reportedWarnings,
      NAN: this.notices.NAN ? 1 : 0,
      FAN: this.notices.FAN ? 1 : 0,
    })
    this.isUnconfigured = this.notices.NAN === 1
    await admin.execute(SetFeatures, { FID: FID.ASYNCHRONOUS_EVENT_CONFIGURATION, CDW11 })
    this.isUnconfigured = false
  }

  /** Reads a log page, which clears its event unless that is retained. */
  private readLog(lid: number, event: 'clear' | 'retain' = 'clear'): Promise<DataView> {
    const lengthBytes = lid === LID.CHANGED_ATTACHED_NAMESPACE_LIST ? 4096 : LOG_BYTES
    const values = {
      NSID: 0xffff_ffff,
      LID: lid,
      RAE: event === 'retain' ? 1 : 0,
      ...logPagePart(lengthBytes / 4),
    } as const
    return this.host.admin((admin) => admin.executeForData(GetLogPage, values, { lengthBytes }))
  }
}

function isHealth(dw0: number): boolean {
  const { AET: type, LID: lid } = AsyncEventDw0.decode(dw0)
  return type === AET.SMART_HEALTH_STATUS && lid === LID.SMART_HEALTH_INFORMATION
}

function isNamespaceChange(dw0: number): boolean {
  const { AET: type, AEI } = AsyncEventDw0.decode(dw0)
  return type === AET.NOTICE && AEI === AEI_NOTICE.ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED
}
