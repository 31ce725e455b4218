import { formatBytes } from '../terminal/units.js'
import { isKnown } from './known.js'
import type { Machine } from './machine.js'
import { pathBetween, type Path } from './path.js'
import type { Verdict } from './peer-to-peer.js'

/** Kinds of traffic between a GPU and a drive, with the expected result of each on this machine. */
export interface DriveWay {
  readonly gpu: string
  readonly drive: string
  readonly path: Path
  /** Writes to the drive's registers by the GPU. */
  readonly doorbells: Verdict
  /** Writes of data to GPU memory by the drive. */
  readonly data: Verdict
  /** Reads of GPU memory by the drive: queue entries, and data to write. */
  readonly fetches: Verdict
  /** By tier, from 1: the weakest result of its requirements. */
  readonly tiers: readonly Tier[]
}

export interface Tier {
  readonly tier: 1 | 2 | 3
  readonly passes: Verdict['passes']
}

/** Integrated GPUs are excluded: their memory is host memory. */
export function cardsOf({ gpus }: Machine): Machine['gpus'] {
  return gpus.filter(({ isIntegrated }) => !isIntegrated)
}

/** Returns the paths between all discrete GPUs, in both directions. */
export function gpuPaths(machine: Machine): Path[] {
  const cards = cardsOf(machine)
  return cards.flatMap(({ address: from }) =>
    cards.flatMap(({ address: to }) => (from === to ? [] : [pathBetween(machine, from, to)])),
  )
}

/** Returns the traffic between each discrete GPU and each drive. */
export function driveWays(machine: Machine): DriveWay[] {
  return cardsOf(machine).flatMap(({ address: gpu }) =>
    machine.drives.map(({ address: drive }) => {
      const path = pathBetween(machine, gpu, drive)
      const back = pathBetween(machine, drive, gpu)
      const ways = { doorbells: path.writes, data: withWindow(machine, gpu, back.writes), fetches: back.reads }
      return { gpu, drive, path, ...ways, tiers: tiersOf(ways) }
    }),
  )
}

/** A drive can access only the part of GPU memory in its window (BAR1). */
function withWindow(machine: Machine, gpu: string, verdict: Verdict): Verdict {
  const { window, memoryBytes } = machine.gpus.find(({ address }) => address === gpu)!
  if (!isKnown(window) || !isKnown(memoryBytes) || window.sizeBytes >= memoryBytes) return verdict
  const part = `its window shows ${formatBytes(window.sizeBytes)} of ${formatBytes(memoryBytes)} at a time`
  return { ...verdict, reason: `${verdict.reason}; ${part}` }
}

function tiersOf({ doorbells, data, fetches }: Pick<DriveWay, 'doorbells' | 'data' | 'fetches'>): Tier[] {
  return [
    { tier: 1, passes: weakest([doorbells]) },
    { tier: 2, passes: weakest([doorbells, data]) },
    { tier: 3, passes: weakest([doorbells, data, fetches]) },
  ]
}

function weakest(verdicts: readonly Verdict[]): Verdict['passes'] {
  const order = ['never', 'unknown', 'likely'] as const
  return order.find((passes) => verdicts.some((verdict) => verdict.passes === passes))!
}
