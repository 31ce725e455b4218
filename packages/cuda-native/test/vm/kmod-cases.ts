import type { Scenario } from './protocol.js'

const MIB = 1024 * 1024

/** The controllers of the guest, by the names that QEMU has for them: where they are, and what is on them. */
export const CONTROLLERS = {
  fixed: { serial: 'KM0001', place: 'addr=4', bdf: '0000:00:04.0' },
  // Behind the port, and pulled out of it at the end.
  loose: { serial: 'KM0002', place: 'bus=slot1', bdf: '' },
  // The kernel's from the beginning to the end.
  kept: { serial: 'KM0003', place: 'addr=7', bdf: '0000:00:07.0' },
  twin: { serial: 'KM0004', place: 'addr=8.0,multifunction=on', bdf: '0000:00:08.0' },
  other: { serial: 'KM0005', place: 'addr=8.1', bdf: '0000:00:08.1' },
} as const

export type ControllerName = keyof typeof CONTROLLERS

export const IMAGES = Object.fromEntries(Object.keys(CONTROLLERS).map((name) => [name, 16 * MIB]))

const PORT = '0000:00:05.0'
/** A function that is no NVMe controller. */
const STRANGER = '0000:00:06.0'

export const DEVICES: readonly string[] = [
  ...['-device', 'pcie-root-port,id=slot1,slot=1,chassis=1,addr=5'],
  ...['-object', 'memory-backend-ram,id=vram,size=1M,share=on', '-device', 'ivshmem-plain,memdev=vram,addr=6'],
  ...Object.entries(CONTROLLERS).flatMap(([name, { serial, place }]) => [
    '-device',
    `nvme,id=${name},serial=${serial},drive=${name},${place}`,
  ]),
]

/** Ways that memory is translated on the way from the controller; the kernel's own words for them. */
export const IOMMUS = {
  off: { title: 'no IOMMU', append: '', mode: 0 },
  passthrough: { title: 'an IOMMU that passes everything through', append: 'intel_iommu=on iommu=pt', mode: 1 },
  on: { title: 'an IOMMU that translates', append: 'intel_iommu=on', mode: 2 },
} as const

export type Iommu = keyof typeof IOMMUS

/** A case of kmod/test/check with its arguments, or one of guest/kmod.ts; on one of the controllers. */
interface Turn {
  readonly name: string
  readonly controller?: ControllerName
  readonly arguments?: readonly string[]
  readonly timeoutMs?: number
}

/** In this order: the last of them sees what all others have left behind. */
const TURNS: readonly Turn[] = [
  { name: 'binding' },
  // Before any other case opens a controller.
  { name: 'privileges' },
  { name: 'info' },
  { name: 'bar' },
  { name: 'mappings' },
  { name: 'forked' },
  { name: 'inherited' },
  { name: 'shapes' },
  { name: 'values' },
  { name: 'random', arguments: ['1'], timeoutMs: 180_000 },
  { name: 'random', controller: 'loose', arguments: ['2'], timeoutMs: 180_000 },
  { name: 'pinning' },
  { name: 'memlock' },
  { name: 'handles', timeoutMs: 180_000 },
  { name: 'dma' },
  { name: 'queues' },
  { name: 'odd' },
  { name: 'large' },
  { name: 'udmabuf' },
  { name: 'moving' },
  { name: 'killed' },
  { name: 'reset' },
  { name: 'reset', controller: 'loose' },
  { name: 'reset', controller: 'twin' },
  { name: 'power', controller: 'loose' },
  { name: 'unbound' },
  { name: 'unbound-itself' },
  { name: 'pulled', controller: 'twin' },
  { name: 'pulled', controller: 'other', arguments: ['heir'] },
  { name: 'in-use' },
  { name: 'removed', controller: 'loose', arguments: ['loose'] },
  { name: 'locked' },
  { name: 'restored' },
]

/** What the turn of a case on a controller is called. */
export function turnOf(name: string, controller: ControllerName = 'fixed'): string {
  return controller === 'fixed' ? name : `${name} on ${controller}`
}

/** In a guest whose kernel copies what any device writes (swiotlb=force). */
export const BOUNCED: readonly Turn[] = [{ name: 'bounced' }]

/** Resets of the link, many with interrupts in use, and removal, behind a port that supports hot-plug. */
export const HOTPLUG: readonly Turn[] = [
  { name: 'bus-resets', controller: 'loose', arguments: ['20'], timeoutMs: 400_000 },
  { name: 'removed', controller: 'loose', arguments: ['loose'] },
  { name: 'restored' },
]

/** Suspends the guest, whose files and reports do not come back: a guest of its own. */
export const SLEEP: readonly Turn[] = [{ name: 'sleep' }]

/** @param check The program, by its path in the guest. */
export function scenarios(check: string, turns = TURNS): Scenario[] {
  return turns.map(({ name, controller = 'fixed', arguments: given = [], timeoutMs = 60_000 }) => ({
    name: turnOf(name, controller),
    script: 'kmod',
    timeoutMs,
    environment: {
      VM_CHECK: check,
      VM_CASE: [name, ...given].join(' '),
      VM_DEVICE: CONTROLLERS[controller].bdf,
      VM_PORT: PORT,
      VM_STRANGER: STRANGER,
    },
  }))
}
