import { DRIVES, environmentOf, isKmod, LOOSE, type Mode } from './modes.js'
import type { Scenario } from './protocol.js'

/** A run of a program of `guest/` in some modes. */
interface Turn {
  readonly script: string
  /** Time limit, long enough for a busy machine. */
  readonly timeoutMs: number
  /** Default: all modes except 'kmod-pt', which uses the same code as 'kmod'. */
  readonly modes?: readonly Mode['name'][]
  /** Name of the turn, if its program has several. Default: the program's name. */
  readonly name?: string
  /** Default: the host engine. */
  readonly engine?: 'cpu-kernel'
  /** Controller to unplug. Default: the mode's. */
  readonly loose?: Mode['loose']
}

/** Name of the turn of `cases` in which device code submits commands. */
export const KERNEL_CASES = 'cases by cpu-kernel'

/** Name of the turn of `lost` in which device code uses the queues. */
export const KERNEL_LOST = 'lost by cpu-kernel'

const EVERY_MODE = ['sysfs', 'vfio', 'vfio-noiommu', 'kmod', 'kmod-iommu', 'kmod-pt'] as const

/** Turns in the order in which they run. The last one checks the state that the others of its mode have left. */
const TURNS: readonly Turn[] = [
  { script: 'enable', timeoutMs: 30_000, modes: ['vfio-noiommu'] },
  { script: 'smoke', timeoutMs: 20_000, modes: ['sysfs', 'vfio', 'kmod', 'kmod-iommu', 'kmod-pt'] },
  { script: 'refusals', timeoutMs: 120_000, modes: ['sysfs', 'vfio', 'vfio-noiommu'] },
  { script: 'refusals-of-module', timeoutMs: 120_000, modes: ['kmod', 'kmod-iommu'] },
  { script: 'traffic', timeoutMs: 180_000, modes: [...EVERY_MODE] },
  // After `traffic`, so that the SMART counters are not zero.
  { script: 'identify', timeoutMs: 60_000 },
  { script: 'registration', timeoutMs: 60_000, modes: ['kmod', 'kmod-iommu', 'kmod-pt'] },
  { script: 'interrupts', timeoutMs: 60_000, modes: ['vfio', 'vfio-noiommu', 'kmod', 'kmod-iommu'] },
  { script: 'interop', timeoutMs: 60_000 },
  { script: 'p2p', timeoutMs: 60_000, modes: ['sysfs', 'vfio', 'vfio-noiommu', 'kmod', 'kmod-pt'] },
  { script: 'reset', timeoutMs: 90_000 },
  { script: 'killed', timeoutMs: 90_000 },
  { script: 'cases', timeoutMs: 420_000 },
  { script: 'cases', timeoutMs: 420_000, name: KERNEL_CASES, engine: 'cpu-kernel' },
  { script: 'lost', timeoutMs: 90_000 },
  {
    ...{ script: 'lost', timeoutMs: 90_000, name: KERNEL_LOST, engine: 'cpu-kernel', loose: LOOSE[1] },
    modes: ['kmod', 'kmod-iommu'],
  },
  { script: 'restored', timeoutMs: 20_000, modes: [...EVERY_MODE] },
]

/** Total MiB that `traffic` reads and writes: 1 GiB in the fastest mode, and many laps of all queues in the others. */
export const TRAFFIC_MIB: Readonly<Record<Mode['name'], number>> = {
  ...{ sysfs: 1024, vfio: 256, 'vfio-noiommu': 256 },
  ...{ kmod: 256, 'kmod-iommu': 256, 'kmod-pt': 64 },
}

/** Returns the name of a mode's turn, unique in a guest that tests several modes. */
export function nameIn(mode: Mode, turn: string): string {
  return `${mode.name} ${turn}`
}

function turnsOf({ name }: Mode): Turn[] {
  return TURNS.filter(({ modes }) => modes?.includes(name) ?? name !== 'kmod-pt')
}

/** Returns whether a mode has the turn of this name. */
export function hasTurn(mode: Mode, turn: string): boolean {
  return turnsOf(mode).some(({ script, name = script }) => name === turn)
}

export function scenariosOf(mode: Mode): Scenario[] {
  return turnsOf(mode).map((turn) => ({
    name: nameIn(mode, turn.name ?? turn.script),
    script: turn.script,
    timeoutMs: turn.timeoutMs * (isKmod(mode.name) ? 2 : 1),
    environment: {
      ...environmentOf({ ...mode, loose: turn.loose ?? mode.loose }),
      VM_TRAFFIC_MIB: String(TRAFFIC_MIB[mode.name]),
      VM_ENGINE: turn.engine ?? 'host',
      VM_CASES: mode.cases.join('/'),
    },
  }))
}

/** Sizes of the images of all drives. */
export const IMAGES = Object.fromEntries(Object.entries(DRIVES).map(([name, { bytes }]) => [name, bytes]))
