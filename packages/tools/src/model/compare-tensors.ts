import { streamLayers, type Lease, type PackedModel } from '@gpunvme/layer-loader'
import type { Model } from '@gpunvme/layer-loader/formats'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Small enough for a processor's cache, so that comparing reads each block from memory once. */
const BLOCK_BYTES = 1024 * 1024

export interface CompareOptions {
  readonly slots: number
  readonly signal: AbortSignal
  /** Where progress is shown. */
  readonly output: Output
}

export interface ComparisonReport {
  /** Number of tensors that equal those of the file. */
  readonly tensors: number
  /** Wall time of reading both sides and comparing. */
  readonly wallNs: number
}

/**
 * Streams a packed model once more and compares each tensor with the model file, byte by byte. The image's checksums
 * take no part, so a mistake in packing is found too.
 * @throws TensorsDifferError
 */
export async function compareTensors(
  packed: PackedModel,
  model: Model,
  { slots, signal, output }: CompareOptions,
): Promise<ComparisonReport> {
  const startMs = performance.now()
  const progress = new Progress(output, 'comparing')
  const byName = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  const block = new Uint8Array(BLOCK_BYTES)
  let tensors = 0

  const compare = async (name: string, streamed: Uint8Array): Promise<void> => {
    const tensor = byName.get(name)
    if (tensor?.lengthBytes !== streamed.length) throw new TensorsDifferError(name)
    const { source } = model.parts[tensor.part]!
    for (let at = 0; at < streamed.length; at += BLOCK_BYTES) {
      const inFile = block.subarray(0, Math.min(BLOCK_BYTES, streamed.length - at))
      await source.read(tensor.offsetBytes + at, inFile, { signal })
      if (Buffer.compare(inFile, streamed.subarray(at, at + inFile.length)) !== 0) throw new TensorsDifferError(name)
    }
    tensors++
  }
  const compareAll = async (lease: Lease): Promise<void> => {
    for (const { name } of lease.tensors) await compare(name, lease.tensor(name))
    lease.release()
  }

  const stream = streamLayers(packed, {
    ...{ slots, verify: 'off', signal },
    onProgress: ({ statistics, totalBytes }) => progress.update(statistics.bytes, totalBytes),
  })
  try {
    for await (const lease of stream) await compareAll(lease)
  } finally {
    progress.end()
  }
  return { tensors, wallNs: Math.round((performance.now() - startMs) * 1e6) }
}

/** A tensor of the packed model that differs from the model file. */
export class TensorsDifferError extends ToolsError {
  readonly code = 'ERR_GPUNVME_TENSORS_DIFFER'
  readonly category = 'verification'
  constructor(name: string) {
    super(`Tensor ${printable(name)} was streamed, and differs from the model file`, {
      next: 'this is a defect of gpunvme: please report it',
    })
  }
}
