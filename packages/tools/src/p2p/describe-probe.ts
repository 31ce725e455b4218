import { hanging } from '../machine/views/names.js'
import { hex, type ProbeResult } from './probe.js'

/** What the stores of a GPU have shown, and what that means. */
export function describeProbe(result: ProbeResult, gpu: number, drive: string, columns: number): string[] {
  const { stores, arrived, before } = result
  const meaning = arrived
    ? 'What the GPU writes arrives at the registers of this drive: it can ring doorbells (tier 1). Nothing is shown of data in GPU memory (tiers 2 and 3).'
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
