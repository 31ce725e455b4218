import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import { publish, type LoadEvent } from './events.js'
import type { LoadableModel } from './extent.js'
import type { Slot } from './slots.js'
import type { Ticket } from './ticket.js'

/** Publishes the progress of requests on the diagnostics channel and to a trace. */
export class Announcer {
  private readonly model: LoadableModel
  private readonly trace: TraceSink | undefined

  constructor(model: LoadableModel, trace: TraceSink | undefined) {
    this.model = model
    this.trace = trace
  }

  tell(kind: LoadEvent['kind'], ticket: Ticket, slot?: Slot, error?: unknown): void {
    const { model } = this
    const { name: extent } = ticket.extent
    const timeNs = model.store.clock.now()
    publish(() => ({
      ...{ kind, model: model.name, store: model.store.name, extent, index: ticket.index, timeNs },
      ...(slot && { slot: slot.index, generation: slot.generation }),
      ...(error !== undefined && { error }),
    }))
    if (slot !== undefined) this.trace?.({ timeNs, track: `slot ${slot.index}`, name: `${kind} ${extent}` })
  }
}
