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
import type { Session, SetupStep } from '../bring-up/session.js'
import { CommandError, type CommandQueue } from '../commands/command-queue.js'
import type { ControllerEvent } from './controller-event.js'

/** More would only lie in the controller: events of a kind are masked until their log page is read. */
const MOST_REQUESTS = 4

const LOG_BYTES = 512

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
  private stopped = false

  constructor(host: EventHost) {
    this.host = host
  }

  async apply(session: Session): Promise<void> {
    const { OAES } = IdentifyController.view(session.identity.raw)
    // The notices' bits are at the same places in OAES, which says which of them the controller has.
    const offered = AsynchronousEventConfiguration.CDW11.decode(OAES)
    const CDW11 = AsynchronousEventConfiguration.CDW11.encode({
      SHCW: 0x1f,
      NAN: offered.NAN ? 1 : 0,
      FAN: offered.FAN ? 1 : 0,
    })
    try {
      await session.admin.execute(SetFeatures, { FID: FID.ASYNCHRONOUS_EVENT_CONFIGURATION, CDW11 })
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
    for (let i = 0; i < requests; i++) this.request(session)
  }

  /** No event is taken up any more; resolves when those that were are dealt with. */
  async stop(): Promise<void> {
    this.stopped = true
    await Promise.all(this.handling)
  }

  private request(session: Session): void {
    session.admin.hold(AsyncEventRequest, {}, (status, dw0) => {
      // Anything but success says that it was not held: asking again at once would be answered at once.
      if (status !== 0 || this.stopped) return
      this.request(session)
      const work = this.handle(dw0)
        .catch((error: unknown) => {
          const text = `${formatAsyncEvent(dw0)}; its log page could not be read: ${(error as Error).message}`
          this.host.emit({ kind: 'error', timeNs: this.host.now(), text })
        })
        .finally(() => this.handling.delete(work))
      this.handling.add(work)
    })
  }

  private async handle(dw0: number): Promise<void> {
    const { host } = this
    const timeNs = host.now()
    const text = formatAsyncEvent(dw0)
    const { AET: type, AEI, LID: lid } = AsyncEventDw0.decode(dw0)
    const log = await this.readLog(lid)
    if (type === AET.NOTICE && AEI === AEI_NOTICE.ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED) {
      const nsids = Array.from(ChangedAttachedNamespaceList.view(log).NSID).filter((nsid) => nsid !== 0)
      await host.namespacesChanged()
      host.emit({ kind: 'namespaces-changed', timeNs, nsids })
    } else if (type === AET.SMART_HEALTH_STATUS && lid === LID.SMART_HEALTH_INFORMATION) {
      host.emit({ kind: 'health', timeNs, text, criticalWarning: SmartHealthLog.view(log).CW })
    } else host.emit({ kind: type === AET.ERROR_STATUS ? 'error' : 'notice', timeNs, text })
  }

  /** Reading it clears the event. */
  private readLog(lid: number): Promise<DataView> {
    const lengthBytes = lid === LID.CHANGED_ATTACHED_NAMESPACE_LIST ? 4096 : LOG_BYTES
    const part = logPagePart(lengthBytes / 4)
    return this.host.admin((admin) =>
      admin.executeForData(GetLogPage, { NSID: 0xffff_ffff, LID: lid, ...part }, { lengthBytes }),
    )
  }
}
