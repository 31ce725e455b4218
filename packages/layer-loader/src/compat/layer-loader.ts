import { LoaderError } from '../error.js'
import type { Namespace } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { namespaceStore } from '../store/namespace-store.js'
import { originalDrive, wholeAddress } from './environment.js'

/** The predecessor's time limit for a command, in nanoseconds. */
const TIMEOUT_NS = 5_000_000_000

/** Options of `layerLoaderInit`. */
export interface LayerLoaderOptions {
  /** PCI address of the drive. Default: GPUNVME_PCI_BDF. */
  readonly pciBdf?: string
  /** Opens a namespace of this drive, with any transport and engine. */
  readonly open: (pciBdf: string) => Promise<Namespace>
  /** Releases what `open` opened. */
  readonly close?: () => Promise<void>
  /** Length of the longest layer. A longer load is rejected. */
  readonly maxLayerBytes: number
}

/** The predecessor's loader: one namespace, one load at a time. */
export interface LayerLoader {
  readonly namespace: Namespace
  readonly maxLayerBytes: number
  /** Whether a load is in flight, or the loader is destroyed. */
  state: 'idle' | 'loading' | 'destroyed'
  /** Releases what `open` opened. */
  readonly close: () => Promise<void>
}

/**
 * `gpunvme_layer_loader_init`. `open` registers BAR0, creates queues and allocates PRP lists; the engine sets the queue
 * depth.
 * @throws RangeError for invalid options or an invalid GPUNVME_PCI_BDF; LoaderError (MISSING_DRIVE) if no drive is
 * named; errors of `open`.
 */
export async function layerLoaderInit(options: LayerLoaderOptions): Promise<LayerLoader> {
  const { open, maxLayerBytes, close = () => Promise.resolve() } = options
  if (!Number.isSafeInteger(maxLayerBytes) || maxLayerBytes <= 0) {
    throw new RangeError(`maxLayerBytes: expected a number of bytes, got ${maxLayerBytes}`)
  }
  const given = options.pciBdf
  const pciBdf = given === undefined ? originalDrive() : wholeAddress('pciBdf', given)
  if (pciBdf === undefined) throw missingDrive()
  return { namespace: await open(pciBdf), maxLayerBytes, state: 'idle', close }
}

/**
 * `gpunvme_load_layer`: reads `lengthBytes` from block `startLba` into pinned host memory. The last block is read
 * completely, and the memory must have room for it: the predecessor wrote past the end.
 * @throws RangeError, LoaderError (LOAD_IN_PROGRESS); TransferError, where the predecessor printed a line and
 * continued.
 */
export async function loadLayer(
  loader: LayerLoader,
  startLba: number,
  lengthBytes: number,
  destination: DmaMemory,
): Promise<void> {
  const { namespace, maxLayerBytes } = loader
  if (loader.state === 'destroyed') throw new TypeError('loader: expected an open loader, got a destroyed one')
  if (loader.state === 'loading') throw loadInProgress()
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
 * `gpunvme_bar1_init`: checks that the drive can write to GPU memory. It takes no offset: the namespace's allocator
 * knows the address of its memory.
 * @throws TypeError if the namespace cannot allocate GPU memory; RangeError if no GPU memory is left.
 */
export function bar1Init({ namespace }: LayerLoader): void {
  namespace.dma.alloc(namespace.blockBytes, { where: 'gpu' }).free()
}

/**
 * `gpunvme_bar1_resolve`: returns the bus address of memory from `namespace.dma.alloc(…, { where: 'gpu' })`. It needs
 * no search by pattern and no probe for contiguity.
 * @throws TypeError for memory that is not contiguous for the drive.
 */
export function bar1Resolve(memory: DmaMemory): number {
  if (memory.segments.length === 1) return memory.iovaAt(0)
  throw new TypeError(`memory: expected one segment, got ${memory.segments.length}; load into it with loadLayerVram`)
}

/**
 * `gpunvme_load_layer_vram`: like `loadLayer`, into GPU memory, contiguous or not. @throws the errors of `loadLayer`.
 */
export function loadLayerVram(
  loader: LayerLoader,
  startLba: number,
  lengthBytes: number,
  destination: DmaMemory,
): Promise<void> {
  return loadLayer(loader, startLba, lengthBytes, destination)
}

/** `gpunvme_layer_loader_block_size`: returns the length of a logical block, in bytes. */
export function layerLoaderBlockSize({ namespace }: LayerLoader): number {
  return namespace.blockBytes
}

/** `gpunvme_layer_loader_max_transfer`: returns the maximum length of a command, in bytes. */
export function layerLoaderMaxTransfer({ namespace }: LayerLoader): number {
  return namespace.maxTransferBytes
}

/**
 * `gpunvme_layer_loader_ns_blocks`: returns the number of logical blocks of the namespace, not truncated to 32 bits.
 */
export function layerLoaderNsBlocks({ namespace }: LayerLoader): number {
  return namespace.blocks
}

/** `gpunvme_layer_loader_destroy`. Idempotent. @throws LoaderError (LOAD_IN_PROGRESS) while a load is in flight. */
export async function layerLoaderDestroy(loader: LayerLoader): Promise<void> {
  if (loader.state === 'destroyed') return
  if (loader.state === 'loading') throw loadInProgress()
  await loader.close()
  loader.state = 'destroyed'
}

/** Error of a call without a drive: neither `pciBdf` nor GPUNVME_PCI_BDF is set. */
export function missingDrive(): LoaderError {
  return new LoaderError('ERR_GPUNVME_MISSING_DRIVE', 'usage', 'No drive is named', {
    next: 'pass { pciBdf }, or set GPUNVME_PCI_BDF to the PCI address of the drive, for example 0000:0b:00.0',
  })
}

/** Error of a load that starts before the previous load of the same loader has ended. */
export function loadInProgress(): LoaderError {
  return new LoaderError('ERR_GPUNVME_LOAD_IN_PROGRESS', 'usage', 'A load is already in flight', {
    next: 'wait for it; openLoader() of @gpunvme/layer-loader loads several at a time',
  })
}
