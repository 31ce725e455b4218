import { diagnosticsChannel } from '@gpunvme/nvme-spec/runtime'
import type { ControllerEvent } from './controller-event.js'

/** Maximum number of unread events of a subscriber. */
const MAX_UNREAD = 1024

/** Diagnostics channel on which every event of every controller is published, as { controller, event }. */
export const EVENT_CHANNEL = 'gpunvme:controller-event'
const diagnostics = diagnosticsChannel(EVENT_CHANNEL)

interface Subscriber {
  unread: ControllerEvent[]
  missed: number
}

/** Distributes events to subscribers. */
export class EventHub {
  private readonly controller: string
  private readonly subscribers = new Set<Subscriber>()

  constructor(controller: string) {
    this.controller = controller
  }

  emit(event: ControllerEvent): void {
    if (diagnostics.hasSubscribers) diagnostics.publish({ controller: this.controller, event })
    for (const subscriber of this.subscribers) {
      if (subscriber.unread.length < MAX_UNREAD) subscriber.unread.push(event)
      else subscriber.missed++
    }
  }

  /** Returns the events from now on. Calls `pause` when all events were read; ends when it returns false. */
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
