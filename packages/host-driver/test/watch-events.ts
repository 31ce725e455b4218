import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'
import { EVENT_CHANNEL } from '../src/events/event-hub.js'
import type { ControllerEvent } from '../src/events/controller-event.js'

/** Collects events of all controllers until the end of the test, including events before a controller is returned. */
export function watchEvents(): readonly ControllerEvent[] {
  const events: ControllerEvent[] = []
  const take = (message: unknown) => void events.push((message as { event: ControllerEvent }).event)
  subscribe(EVENT_CHANNEL, take)
  onTestFinished(() => void unsubscribe(EVENT_CHANNEL, take))
  return events
}
