import { isKnown, pathBetween, type Machine, type Path, type Verdict } from '../machine/index.js'
import { formatBytes } from '../terminal/units.js'

/** What a GPU and a drive would send each other, and what of it this machine may be expected to pass. */
export interface DriveWay {
  readonly gpu: string
  readonly drive: string
  readonly path: Path
  /** The GPU writes to the drive's registers. */
  readonly doorbells: Verdict
  /** The drive writes what it has read into GPU memory. */
  readonly data: Verdict
  /** The drive fetches from GPU memory: queue entries, and data to be written. */
  readonly fetches: Verdict
  /** By tier, from 1: what the weakest that it needs allows. */
  readonly tiers: readonly Tier[]
}

export interface Tier {
  readonly tier: 1 | 2 | 3
  readonly passes: Verdict['passes']
}

/** Graphics of a processor are no peers: their memory is the host's. */
export function cardsOf({ gpus }: Machine): Machine['gpus'] {
  return gpus.filter(({ isIntegrated }) => !isIntegrated)
}

/** Between every two cards, in both directions. */
export function gpuPaths(machine: Machine): Path[] {
  const cards = cardsOf(machine)
  return cards.flatMap(({ address: from }) =>
    cards.flatMap(({ address: to }) => (from === to ? [] : [pathBetween(machine, from, to)])),
  )
}

/** Between every card and every drive. */
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

/** What a drive can reach of a GPU's memory is what its window (BAR1) shows. */
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
