import { RunFailure } from '@gpunvme/nvme-sim/dst'
import type { FaultKind } from './random-faults.js'
import type { World } from './world.js'

type Cause = FaultKind | 'loss of power'

/**
 * Mistakes that a fault excuses: the text of the controller's report, and the faults that excuse it. A fault suffices alone;
 * the faults of a list must occur together.
 */
const MISLED: readonly (readonly [text: string, ...kinds: (Cause | readonly Cause[])[]])[] = [
  ['host cleared CC.EN before CSTS.RDY became 1', 'ready-never-rises', 'fatal-status', 'read-value', 'delay-write'],
  ['host set CC.EN before CSTS.RDY became 0', 'read-value'],
  ['but the queue does not exist', 'read-value'],
  // Between a reset and the host's next look at CSTS, when it was another's look.
  ['but CSTS.RDY is 0', 'read-value', 'surprise-reset', 'loss of power'],
  // A reset cleared AQA between its write and the delayed write of CC.EN.
  ['AQA gives 1 and 1 entries', ['delay-write', 'surprise-reset']],
  // `faulty` clears Bus Master Enable when it removes the device; a delayed write of a doorbell arrives later.
  ['but Bus Master Enable is 0', ['delay-write', 'remove-device']],
]

/** Checks the diagnostics of the simulator. @throws RunFailure for a mistake that no fault excuses. */
export function checkDiagnostics({ struck, powerLosses, simulation }: World): void {
  const causes = [...Object.keys(struck), ...(powerLosses > 0 ? ['loss of power'] : [])]
  const haveStruck = (together: Cause | readonly Cause[]) => [together].flat().every((kind) => causes.includes(kind))
  const first = simulation.diagnostics.find(
    ({ text }) => !MISLED.some(([part, ...by]) => text.includes(part) && by.some(haveStruck)),
  )
  if (first !== undefined) throw new RunFailure('diagnostics', first.text)
}
