import { Controller, type WritableNamespace } from '@gpunvme/host-driver'
import { profiles, RamMedia, simulate, SimulatedHost, type Simulation, type SimulationOptions } from '@gpunvme/nvme-sim'
import { namespaceStore, type BlockStore, type WritableBlockStore } from '../../src/store/index.js'
import { createMirror } from '../../src/sets/index.js'

export const MIB = 1024 * 1024

/** A simulated drive opened for writing. */
export interface Drive {
  readonly simulation: Simulation
  readonly controller: Controller<WritableNamespace>
  readonly namespace: WritableNamespace
  readonly store: WritableBlockStore
}

export type DriveOptions = SimulationOptions & {
  readonly capacityBytes?: number
  readonly blockBytes?: 512 | 4096
  readonly media?: RamMedia
}

/** Opens drives on one host, each with its own options. */
export async function drives(
  options: readonly DriveOptions[],
  host: SimulatedHost | undefined = new SimulatedHost(),
): Promise<Drive[]> {
  return Promise.all(options.map((each) => drive(each, host)))
}

export async function drive(options: DriveOptions, host?: SimulatedHost): Promise<Drive> {
  const { capacityBytes = 32 * MIB, blockBytes = 512, media = new RamMedia(capacityBytes), ...rest } = options
  const simulation = simulate({ ...(host && { host }), namespaces: [{ media, blockBytes }], ...rest })
  const { profile = 'ideal' } = options
  const serial = (typeof profile === 'string' ? profiles[profile] : profile).identify.SN!
  const controller = await Controller.open(simulation.transport, { write: { serial } })
  const namespace = controller.namespace(1)
  return { simulation, controller, namespace, store: namespaceStore(namespace) }
}

/** Opens drives on these media and returns their stores. */
export async function storesOn(media: readonly RamMedia[]): Promise<WritableBlockStore[]> {
  return (await drives(media.map((each) => ({ media: each })))).map(({ store }) => store)
}

/**
 * Returns the media of a new mirror of two members that begins with `content`. Tests open drives with faults on them,
 * which then do not affect the creation of the mirror.
 */
export async function mirrored(content: Uint8Array, capacityBytes = 32 * MIB): Promise<[RamMedia, RamMedia]> {
  const media: [RamMedia, RamMedia] = [new RamMedia(capacityBytes), new RamMedia(capacityBytes)]
  const set = await createMirror(await storesOn(media))
  await put(set, 0, content)
  return media
}

/** Returns pseudo-random bytes. */
export function noise(lengthBytes: number, seed = 1): Uint8Array {
  const words = new Uint32Array(lengthBytes / 4)
  let state = seed
  for (let at = 0; at < words.length; at++) words[at] = state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return new Uint8Array(words.buffer)
}

/** Wraps a store and overrides its read or write. */
export function altered(
  store: WritableBlockStore,
  own: Partial<Pick<WritableBlockStore, 'read' | 'write'>>,
): WritableBlockStore {
  const { name, blockBytes, capacityBytes, saturationBytes, dma, clock, movesData } = store
  return {
    ...{ name, blockBytes, capacityBytes, saturationBytes, dma, clock, movesData },
    read: (...args) => store.read(...args),
    write: (...args) => store.write(...args),
    flush: () => store.flush(),
    locate: (...args) => store.locate(...args),
    ...own,
  }
}

/** Writes bytes to a store, and flushes. */
export async function put(store: WritableBlockStore, offsetBytes: number, content: Uint8Array): Promise<void> {
  const memory = store.dma.alloc(content.length)
  new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, content.length).set(content)
  await store.write([{ offsetBytes, lengthBytes: content.length, memoryBytes: 0 }], memory)
  await store.flush()
  memory.free()
}

/** Reads bytes of a store in one call, into memory filled with 0xa5, so that missing bytes are visible. */
export async function get(store: BlockStore, offsetBytes: number, lengthBytes: number): Promise<Uint8Array> {
  const memory = store.dma.alloc(lengthBytes)
  const bytes = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, lengthBytes).fill(0xa5)
  try {
    await store.read([{ offsetBytes, lengthBytes, memoryBytes: 0 }], memory)
    return bytes.slice()
  } finally {
    memory.free()
  }
}
