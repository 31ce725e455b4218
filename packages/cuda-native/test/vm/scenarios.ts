import { DRIVES, environmentOf, isKmod, LOOSE, type Mode } from './modes.js'
import type { Scenario } from './protocol.js'

/** A program of `guest/`, where it has its turn. */
interface Turn {
  readonly script: string
  /** For a machine that is busy. */
  readonly timeoutMs: number
  /** In all modes but 'kmod-pt' when not given: there, the way is that of 'kmod'. */
  readonly modes?: readonly Mode['name'][]
  /** What the turn is called, where its program has several. */
  readonly name?: string
  /** The program's own engine when not given. */
  readonly engine?: 'cpu-kernel'
  /** The controller that is pulled out, where it is another than the mode's. */
  readonly loose?: Mode['loose']
}

/** The turn of `cases` whose commands the device code submits. */
export const KERNEL_CASES = 'cases by cpu-kernel'

/** The turn of `lost` in which the device code has the queues. */
export const KERNEL_LOST = 'lost by cpu-kernel'

const EVERY_MODE = ['sysfs', 'vfio', 'vfio-noiommu', 'kmod', 'kmod-iommu', 'kmod-pt'] as const

/** In this order: the last of them sees what all others of its mode have left behind. */
const TURNS: readonly Turn[] = [
  { script: 'enable', timeoutMs: 30_000, modes: ['vfio-noiommu'] },
  { script: 'smoke', timeoutMs: 20_000, modes: ['sysfs', 'vfio', 'kmod', 'kmod-iommu', 'kmod-pt'] },
  { script: 'refusals', timeoutMs: 120_000, modes: ['sysfs', 'vfio', 'vfio-noiommu'] },
  { script: 'refusals-of-module', timeoutMs: 120_000, modes: ['kmod', 'kmod-iommu'] },
  { script: 'traffic', timeoutMs: 180_000, modes: [...EVERY_MODE] },
  // After it, so that the counters of SMART have something to say.
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

/** What is read and written altogether: a GiB where it costs least, and enough elsewhere to go around all queues often. */
export const TRAFFIC_MIB: Readonly<Record<Mode['name'], number>> = {
  ...{ sysfs: 1024, vfio: 256, 'vfio-noiommu': 256 },
  ...{ kmod: 256, 'kmod-iommu': 256, 'kmod-pt': 64 },
}

/** What a mode's turns are called in a guest that runs those of several. */
export function nameIn(mode: Mode, turn: string): string {
  return `${mode.name} ${turn}`
}

function turnsOf({ name }: Mode): Turn[] {
  return TURNS.filter(({ modes }) => modes?.includes(name) ?? name !== 'kmod-pt')
}

/** Whether a program, or its turn of that name, has its turn in a mode. */
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

/** The images of all drives. */
export const IMAGES = Object.fromEntries(Object.entries(DRIVES).map(([name, { bytes }]) => [name, bytes]))
