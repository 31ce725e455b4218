import type { Namespace } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { namespaceStore } from '../store/namespace-store.js'
import { originalDrive, wholeAddress } from './environment.js'

/** How long the original waits for a command, in nanoseconds. */
const TIMEOUT_NS = 5_000_000_000

export interface LayerLoaderOptions {
  /** The drive. GPUNVME_PCI_BDF when not given. */
  readonly pciBdf?: string
  /** Opens a namespace of the drive that is meant, with whatever transport and engine it is to be driven by. */
  readonly open: (pciBdf: string) => Promise<Namespace>
  /** Lets go of what `open` has opened. */
  readonly close?: () => Promise<void>
  /** The longest layer, which no load may be longer than. */
  readonly maxLayerBytes: number
}

/** The original's loader, as its callers hold it: one namespace, one load at a time. */
export interface LayerLoader {
  readonly namespace: Namespace
  readonly maxLayerBytes: number
  /** A load is in flight; or the loader is gone. */
  state: 'idle' | 'loading' | 'destroyed'
  readonly close: () => Promise<void>
}

/**
 * `gpunvme_layer_loader_init`. Registering BAR0, creating queues and making PRP pools is what `open` does; the depth of
 * the pipeline is the engine's.
 * @throws RangeError for options or a GPUNVME_PCI_BDF that cannot be meant; MissingDriveError where neither names a drive;
 *   what `open` throws.
 */
export async function layerLoaderInit(options: LayerLoaderOptions): Promise<LayerLoader> {
  const { open, maxLayerBytes, close = () => Promise.resolve() } = options
  if (!Number.isSafeInteger(maxLayerBytes) || maxLayerBytes <= 0) {
    throw new RangeError(`maxLayerBytes: expected a number of bytes, got ${maxLayerBytes}`)
  }
  const given = options.pciBdf
  const pciBdf = given === undefined ? originalDrive() : wholeAddress('pciBdf', given)
  if (pciBdf === undefined) throw new MissingDriveError()
  return { namespace: await open(pciBdf), maxLayerBytes, state: 'idle', close }
}

/**
 * `gpunvme_load_layer`: reads `lengthBytes` from block `startLba` on into pinned host memory. The last block is read
 * whole, and the memory must have room for it: the original wrote past the end.
 * @throws RangeError, LoadInProgressError; TransferError, where the original printed a line and went on.
 */
export async function loadLayer(
  loader: LayerLoader,
  startLba: number,
  lengthBytes: number,
  destination: DmaMemory,
): Promise<void> {
  const { namespace, maxLayerBytes } = loader
  if (loader.state === 'destroyed') throw new TypeError('loader: expected one that is open, got one that is destroyed')
  if (loader.state === 'loading') throw new LoadInProgressError()
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes <= 0 || lengthBytes > maxLayerBytes) {
    throw new RangeError(`lengthBytes: expected 1 to ${maxLayerBytes} (maxLayerBytes), got ${lengthBytes}`)
  }
  const { blockBytes } = namespace
  const transfer = {
    offsetBytes: startLba * blockBytes,
    lengthBytes: Math.ceil(lengthBytes / blockBytes) * blockBytes,
    memoryBytes: 0,
  }
  loader.state = 'loading'
  try {
    await namespaceStore(namespace).read([transfer], destination, { timeoutNs: TIMEOUT_NS })
  } finally {
    loader.state = 'idle'
  }
}

/**
 * `gpunvme_bar1_init`: makes sure that the drive can write to memory of a GPU here. There is no offset to give: whoever
 * made the namespace's allocator knows where the memory lies.
 * @throws TypeError where the namespace's memory cannot lie on a GPU; RangeError where there is none left.
 */
export function bar1Init({ namespace }: LayerLoader): void {
  namespace.dma.alloc(namespace.blockBytes, { where: 'gpu' }).free()
}

/**
 * `gpunvme_bar1_resolve`: the bus address of memory of `namespace.dma.alloc(…, { where: 'gpu' })`. Nothing is searched
 * for by pattern, and contiguity is known rather than probed in the middle.
 * @throws TypeError for memory that is not contiguous for the drive.
 */
export function bar1Resolve(memory: DmaMemory): number {
  if (memory.segments.length === 1) return memory.iovaAt(0)
  throw new TypeError(`memory: expected one segment, got ${memory.segments.length}; load into it with loadLayerVram`)
}

/** `gpunvme_load_layer_vram`: as `loadLayer`, into memory on a GPU, contiguous or not. @throws as `loadLayer`. */
export function loadLayerVram(
  loader: LayerLoader,
  startLba: number,
  lengthBytes: number,
  destination: DmaMemory,
): Promise<void> {
  return loadLayer(loader, startLba, lengthBytes, destination)
}

/** `gpunvme_layer_loader_block_size`: bytes of a logical block. */
export function layerLoaderBlockSize({ namespace }: LayerLoader): number {
  return namespace.blockBytes
}

/** `gpunvme_layer_loader_max_transfer`: bytes of the longest command. */
export function layerLoaderMaxTransfer({ namespace }: LayerLoader): number {
  return namespace.maxTransferBytes
}

/** `gpunvme_layer_loader_ns_blocks`: logical blocks of the namespace, all 64 bits of them. */
export function layerLoaderNsBlocks({ namespace }: LayerLoader): number {
  return namespace.blocks
}

/** `gpunvme_layer_loader_destroy`. Doing it twice is harmless. @throws LoadInProgressError while a load is in flight. */
export async function layerLoaderDestroy(loader: LayerLoader): Promise<void> {
  if (loader.state === 'destroyed') return
  if (loader.state === 'loading') throw new LoadInProgressError()
  await loader.close()
  loader.state = 'destroyed'
}

/** Nothing says which drive is meant. */
export class MissingDriveError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MISSING_DRIVE'
  readonly category = 'usage'

  constructor() {
    super('No drive was named', {
      next: 'give { pciBdf }, or set GPUNVME_PCI_BDF to its PCI address, such as 0000:0b:00.0',
    })
  }
}

/** The original's loader has one set of PRP lists: a load begins when the one before it has ended. */
export class LoadInProgressError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_LOAD_IN_PROGRESS'
  readonly category = 'usage'

  constructor() {
    super('A load is in flight already', {
      next: 'wait for it; openLoader() of @gpunvme/layer-loader loads several at a time',
    })
  }
}
