import type { DriveRun } from './run-drive.js'
import { faults, type FaultName } from './settings.js'

/** A line of the list of events; `atNs` from the start of the run. */
export interface EventLine {
  readonly atNs: number
  readonly text: string
}

/** What happened in a run, in order. */
export function eventsOf(
  fault: FaultName,
  { startNs, endNs, faultNs, events, failure, bytes, commandBytes }: DriveRun,
): EventLine[] {
  const lines: EventLine[] = [{ atNs: 0, text: 'First read submitted' }]
  if (faultNs !== undefined) lines.push({ atNs: faultNs - startNs, text: `Fault: ${faults[fault].label}` })
  for (const event of events) {
    const atNs = event.timeNs - startNs
    if (event.kind !== 'recovery') lines.push({ atNs, text: `Driver event: ${event.kind}` })
    else {
      const reason = event.reason === undefined ? '' : `: ${event.reason}`
      lines.push({ atNs, text: `Recovery, ${event.step}: ${event.result}${reason}` })
    }
  }
  const reads = bytes / commandBytes
  lines.push({ atNs: endNs - startNs, text: failure ?? `Last of ${reads} reads completed` })
  return lines.sort((a, b) => a.atNs - b.atNs)
}
