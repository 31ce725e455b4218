import { Controller, type WritableNamespace } from '@gpunvme/host-driver'
import { simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { traceInto, wrapTraced } from '../src/tracing/active.js'

/** Returns the events of `use` with a simulated drive, as `gpunvme nvme trace` receives them. */
export async function recordedTrace(
  use: (drive: { readonly namespace: WritableNamespace }) => Promise<void>,
  options: SimulationOptions = {},
): Promise<TraceEvent[]> {
  const events: TraceEvent[] = []
  const sink = (event: TraceEvent) => {
    events.push(event)
  }
  await traceInto(sink, async () => {
    const { transport } = simulate({ profile: 'sn740', ...options })
    const controller = await Controller.open(wrapTraced(transport, 'modelled'), {
      write: { serial: 'GPUNVME-SIM-SN740' },
    })
    try {
      await use({ namespace: controller.namespace(1) })
    } finally {
      await controller.close()
    }
  })
  return events
}
