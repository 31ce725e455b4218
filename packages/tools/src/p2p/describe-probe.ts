import { hanging } from '../machine/views/names.js'
import { hex } from './probe.js'
import type { DriveProbe } from './probe-drive.js'

/** What the stores of a GPU have shown, and what that means. */
export function describeProbe(result: DriveProbe, gpu: number, drive: string, columns: number): string[] {
  const { stores, arrived, before, isSimulated } = result
  const simulated = 'This drive is simulated, and its registers are memory: nothing is shown of any bus.'
  const meaning = isSimulated
    ? simulated
    : arrived
      ? 'What the GPU writes arrives at the registers of this drive: it can ring doorbells (tier 1 (cuda)). Nothing is shown of data in GPU memory (tiers 2 and 3).'
      : 'What the GPU writes does not arrive at the registers of this drive: it cannot ring doorbells. The engines host and cpu-kernel, whose doorbells the CPU rings, do not need that.'
  return [
    `Stores of GPU ${gpu} to ${drive}, seen by the CPU`,
    ...stores.map(({ value, seen, arrived: ok }) => {
      return `  AQA = ${hex(value)}  ${ok ? 'arrived' : `did not arrive: it reads ${hex(seen)}`}`
    }),
    `  AQA = ${hex(before)}  put back`,
    ...hanging('', meaning, columns),
  ]
}
