import { hanging } from '../machine/views/names.js'
import { hex } from './probe.js'
import type { DriveProbe } from './probe-drive.js'

/** Describes the result of the probe and its meaning. */
export function describeProbe(result: DriveProbe, gpu: number, drive: string, columns: number): string[] {
  const { stores, arrived, before, isSimulated } = result
  const simulated = 'This drive is simulated, and its registers are memory: the result does not apply to a bus.'
  const meaning = isSimulated
    ? simulated
    : arrived
      ? 'Writes by the GPU arrive at the registers of this drive: it can ring doorbells (tier 1 (cuda)). Access to GPU memory (tiers 2 and 3) was not tested.'
      : 'Writes by the GPU do not arrive at the registers of this drive: it cannot ring doorbells. The engines host and cpu-kernel do not need that, and load lets the CPU write the doorbells for the GPU.'
  return [
    `Stores of GPU ${gpu} to ${drive}, seen by the CPU`,
    ...stores.map(({ value, seen, arrived: ok }) => {
      return `  AQA = ${hex(value)}  ${ok ? 'arrived' : `did not arrive: reads ${hex(seen)}`}`
    }),
    `  AQA = ${hex(before)}  restored`,
    ...hanging('', meaning, columns),
  ]
}
