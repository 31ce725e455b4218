import { diagnosticsChannel } from '@gpunvme/nvme-spec/runtime'
import type { ControllerEvent } from './controller-event.js'

/** What a subscriber that does not keep up is allowed to have unread. */
const MOST_UNREAD = 1024

/** Every event of every controller is published here too, as { controller, event }: for loggers and metrics. */
export const EVENT_CHANNEL = 'gpunvme:controller-event'
const diagnostics = diagnosticsChannel(EVENT_CHANNEL)

interface Subscriber {
  unread: ControllerEvent[]
  missed: number
}

/** Spreads events to those who iterate over them. */
export class EventHub {
  private readonly controller: string
  private readonly subscribers = new Set<Subscriber>()

  constructor(controller: string) {
    this.controller = controller
  }

  emit(event: ControllerEvent): void {
    if (diagnostics.hasSubscribers) diagnostics.publish({ controller: this.controller, event })
    for (const subscriber of this.subscribers) {
      if (subscriber.unread.length < MOST_UNREAD) subscriber.unread.push(event)
      else subscriber.missed++
    }
  }

  /**
   * The events from now on. It ends once `pause`, which is asked for more when there is none, says that there will be
   * none any more.
   */
  subscribe(pause: () => Promise<boolean>): AsyncIterableIterator<ControllerEvent> {
    const subscriber: Subscriber = { unread: [], missed: 0 }
    this.subscribers.add(subscriber)
    const end = () => {
      this.subscribers.delete(subscriber)
      return Promise.resolve({ done: true, value: undefined } as const)
    }
    return {
      next: async () => {
        for (;;) {
          const event = subscriber.unread.shift()
          if (event !== undefined) return { done: false, value: event }
          if (subscriber.missed > 0) {
            const events = subscriber.missed
            subscriber.missed = 0
            return { done: false, value: { kind: 'missed', timeNs: 0, events } }
          }
          if (!this.subscribers.has(subscriber) || !(await pause())) return end()
        }
      },
      return: end,
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
}
