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

/** Spare, temperature, reliability, read-only media, volatile backup: those that every controller may be asked for. */
const WARNINGS = 0x1f

/** What handling an event needs. */
export interface EventHost {
  /** Sends an admin command that may be sent twice. */
  admin<T>(run: (queue: CommandQueue) => Promise<T>): Promise<T>
  emit(event: ControllerEvent): void
  now(): number
  /** The namespaces are not what they were. */
  namespacesChanged(): Promise<void>
}

/**
 * Keeps Asynchronous Event Requests outstanding, and makes events of what they come back with (Base 2.1 §5.1.2). Every
 * event's log page is read, since the controller reports no more of the kind before.
 */
export class AsyncEvents implements SetupStep {
  private readonly host: EventHost
  private readonly handling = new Set<Promise<void>>()
  private notices: { readonly NAN?: number; readonly FAN?: number } = {}
  /** Changed namespaces that could not be identified, by NSID; undefined if there are none. */
  private missed: ReadonlySet<number> | undefined
  /** Critical warnings that were told. */
  private told = 0
  private stopped = false
  /** Number of controller starts: a reset aborts earlier requests. */
  private start = 0

  constructor(host: EventHost) {
    this.host = host
  }

  async apply(session: Session): Promise<void> {
    // Bring-up has just identified all namespaces.
    this.missed = undefined
    const { OAES } = IdentifyController.view(session.identity.raw)
    // The notices' bits are at the same places in OAES, which says which of them the controller has.
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
    const requests = Math.min(session.identity.eventRequests, MOST_REQUESTS)
    this.start++
    for (let i = 0; i < requests; i++) this.request(session.admin, this.start)
  }

  /** No event is taken up any more; resolves when those that were are dealt with. */
  async stop(): Promise<void> {
    this.stopped = true
    await Promise.all(this.handling)
  }

  /**
   * Identifies changed namespaces again, in the background, if the last attempt failed. Does nothing while an attempt is
   * in progress. Called after a plan or an I/O command whose status shows outdated knowledge: one attempt for each.
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
      // Anything but success says that it was not held: asking again at once would be answered at once.
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
    // A controller that has events without end leaves the others of this process their turn all the same.
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
    host.emit({ kind: 'namespaces-changed', timeNs, nsids: [...nsids].sort((a, b) => a - b) })
  }

  private miss(nsids: Iterable<number>): void {
    this.missed = new Set([...(this.missed ?? []), ...nsids])
  }

  /**
   * The critical warnings as they are. A warning lasts, and clearing its event would raise it at once again: so it is
   * masked first, and is told once.
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
    await admin.execute(SetFeatures, { FID: FID.ASYNCHRONOUS_EVENT_CONFIGURATION, CDW11 })
  }

  /** Reading a log page clears its event, unless that is retained. */
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
