import { countOf } from '@gpunvme/nvme-spec'
import type { Device } from '../controller/device.js'

/** Arbitration Burst without a limit (Base 2.1 §5.1.25.1.1). */
const NO_LIMIT = 7

/** Applies the Arbitration and interrupt features to queues and interrupts. */
export function applyQueueSettings({ features, queues, interrupts }: Device): void {
  const { AB, HPW, MPW, LPW } = features.arbitration
  queues.arbiter.configure({
    burst: AB === NO_LIMIT ? Infinity : 2 ** AB,
    weights: [countOf(HPW), countOf(MPW), countOf(LPW)],
  })
  const { THR, TIME } = features.interruptCoalescing
  interrupts.coalesce(THR, TIME)
  for (let vector = 0; vector < interrupts.count; vector++) {
    interrupts.setUncoalesced(vector, features.interruptVector(vector).CD === 1)
  }
}
