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
import { DeviceLostError } from '../bring-up/device-lost.js'
import type { Session, SetupStep } from '../bring-up/session.js'
import { CommandError, type CommandQueue } from '../commands/command-queue.js'
import type { ControllerEvent } from './controller-event.js'

/**
 * Maximum number of outstanding Asynchronous Event Requests. More are of no use: the controller masks events of a type until
 * the host reads their log page. It also limits the events handled at a time, for any rate of events.
 */
const MOST_REQUESTS = 4

const LOG_BYTES = 512

/** Spare, temperature, reliability, read-only media, volatile backup: warnings that every controller has. */
const WARNINGS = 0x1f

/** What handling an event needs. */
export interface EventHost {
  /** Sends an admin command that may be sent twice. */
  admin<T>(run: (queue: CommandQueue) => Promise<T>): Promise<T>
  emit(event: ControllerEvent): void
  now(): number
  /** Identifies the namespaces again after a change. */
  namespacesChanged(): Promise<void>
}

/**
 * Keeps Asynchronous Event Requests outstanding, and turns their completions into events (Base 2.1 §5.1.2). Reads the
 * log page of every event, since the controller masks further events of that type until then.
 */
export class AsyncEvents implements SetupStep {
  private readonly host: EventHost
  private readonly handling = new Set<Promise<void>>()
  private notices: { readonly NAN?: number; readonly FAN?: number } = {}
  /** Changed namespaces that could not be identified, by NSID; undefined if no change can have been missed. */
  private missed: ReadonlySet<number> | undefined
  /** The controller was not told to report changes of namespaces, although it can. */
  private isUnconfigured = false
  /** Critical warnings that were reported. */
  private told = 0
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
        what: 'asynchronous events of health and namespaces',
        reason: error.message,
      })
    }
    // Bring-up has just identified all namespaces.
    this.missed = this.isUnconfigured ? new Set() : undefined
    const requests = Math.min(session.identity.eventRequests, MOST_REQUESTS)
    this.start++
    for (let i = 0; i < requests; i++) this.request(session.admin, this.start)
  }

  /** Stops handling new events; resolves when those in progress are handled. */
  async stop(): Promise<void> {
    this.stopped = true
    await Promise.all(this.handling)
  }

  /**
   * Identifies namespaces again, in the background, if the last attempt failed or the controller does not report changes.
   * Does nothing while an attempt is in progress. Called after a plan or an I/O command whose status shows outdated
   * knowledge: one attempt for each.
   */
  retryNamespaces(): void {
    if (this.missed === undefined || this.stopped) return
    const work = this.identifyNamespaces(this.host.now())
      .catch((error: unknown) => this.report('Changed namespaces could not be identified', error))
      .finally(() => this.handling.delete(work))
    this.handling.add(work)
  }

  private request(admin: CommandQueue, start: number): void {
    admin.hold(AsyncEventRequest, {}, (status, dw0) => {
      // Any status but success means that the request was not held: a new one would end at once as well.
      if (status !== 0 || this.stopped) return
      const work = this.take(dw0, start).finally(() => this.handling.delete(work))
      this.handling.add(work)
    })
  }

  /** Handles an event, then requests the next one. Never rejects: errors are reported as events. */
  private async take(dw0: number, start: number): Promise<void> {
    try {
      await this.handle(dw0)
    } catch (error) {
      if (error instanceof DeviceLostError) return
      this.report(`${formatAsyncEvent(dw0)}; it could not be handled`, error)
    }
    try {
      await this.host.admin((admin) => {
        if (!this.stopped && start === this.start) this.request(admin, start)
        return Promise.resolve()
      })
    } catch (error) {
      this.report('No further event can be requested', error)
    }
  }

  private report(failure: string, error: unknown): void {
    // The loss of the controller is an event of its own.
    if (error instanceof DeviceLostError) return
    this.host.emit({ kind: 'error', timeNs: this.host.now(), text: `${failure}: ${(error as Error).message}` })
  }

  private async handle(dw0: number): Promise<void> {
    const { host } = this
    const timeNs = host.now()
    const text = formatAsyncEvent(dw0)
    const { AET: type, AEI, LID: lid } = AsyncEventDw0.decode(dw0)
    // A controller with endless events must not starve other tasks of this process.
    await nextTurn()
    if (type === AET.SMART_HEALTH_STATUS && lid === LID.SMART_HEALTH_INFORMATION) {
      host.emit({ kind: 'health', timeNs, text, criticalWarning: await this.takeWarnings() })
      return
    }
    if (type === AET.NOTICE && AEI === AEI_NOTICE.ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED) {
      await this.identifyNamespaces(timeNs)
      return
    }
    await this.readLog(lid)
    host.emit({ kind: type === AET.ERROR_STATUS ? 'error' : 'notice', timeNs, text })
  }

  /** Reads which namespaces have changed and identifies all. What an earlier attempt missed is part of the event. */
  private async identifyNamespaces(timeNs: number): Promise<void> {
    const { host } = this
    const nsids = new Set(this.missed)
    this.missed = undefined
    try {
      const log = await this.readLog(LID.CHANGED_ATTACHED_NAMESPACE_LIST)
      for (const nsid of ChangedAttachedNamespaceList.view(log).NSID) if (nsid !== 0) nsids.add(nsid)
      await host.namespacesChanged()
    } catch (error) {
      this.miss(nsids)
      throw error
    }
    if (this.isUnconfigured) this.miss([])
    host.emit({ kind: 'namespaces-changed', timeNs, nsids: [...nsids].sort((a, b) => a - b) })
  }

  private miss(nsids: Iterable<number>): void {
    this.missed = new Set([...(this.missed ?? []), ...nsids])
  }

  /**
   * Returns the current critical warnings. A warning lasts, so clearing its event would raise it again at once. It is
   * therefore masked first, and reported once.
   */
  private async takeWarnings(): Promise<number> {
    const { CW } = SmartHealthLog.view(await this.readLog(LID.SMART_HEALTH_INFORMATION, 'retain'))
    this.told |= CW
    await this.host.admin((admin) => this.configure(admin))
    await this.readLog(LID.SMART_HEALTH_INFORMATION)
    return CW
  }

  private async configure(admin: CommandQueue): Promise<void> {
    const CDW11 = AsynchronousEventConfiguration.CDW11.encode({
      SHCW: WARNINGS & ~this.told,
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
