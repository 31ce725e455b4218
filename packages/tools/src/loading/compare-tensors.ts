import type { HostCopyMemory, ResidentLease } from '@gpunvme/layer-loader/residence'
import type { Model, Tensor } from '@gpunvme/layer-loader/formats'
import { ToolsError } from '../command-line/tools-error.js'
import type { Rig } from '../rig/open-rig.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { handOut } from './passes.js'

/** Fits into a CPU cache, so that each block is read from memory once. */
const BLOCK_BYTES = 1024 * 1024

export interface ComparisonReport {
  /** Number of tensors, all equal to those of the file. */
  readonly tensors: number
  /** Wall time of an additional pass, reading the file and comparing. */
  readonly wallNs: number
}

/**
 * Streams a model to host memory in an additional pass, and compares each tensor with the model file byte by byte.
 * Checksums alone would not reveal an error of packing.
 * @throws ToolsError (TENSORS_DIFFER)
 */
export async function compareTensors(
  rig: Rig,
  file: Model,
  output: Output,
  signal: AbortSignal,
): Promise<ComparisonReport> {
  const startMs = performance.now()
  const missing = new Map(file.tensors.map((tensor) => [tensor.name, tensor]))
  const compareLayer = async ({ memory, tensors }: ResidentLease): Promise<void> => {
    for (const { name, offsetBytes, lengthBytes } of tensors) {
      const tensor = missing.get(name)
      const block = (at: number, blockBytes: number) => (memory as HostCopyMemory).range(offsetBytes + at, blockBytes)
      const isSame = tensor?.lengthBytes === lengthBytes && (await isEqual(file, tensor, block, signal))
      if (!isSame) throw tensorsDifferError(name)
      missing.delete(name)
    }
  }
  await handOut(rig, { isLast: true, signal }, new Progress(output, 'comparing'), compareLayer)
  for (const name of missing.keys()) throw tensorsDifferError(name)
  return { tensors: file.tensors.length, wallNs: Math.round((performance.now() - startMs) * 1e6) }
}

async function isEqual(
  { parts }: Model,
  { part, offsetBytes, lengthBytes }: Tensor,
  loaded: (at: number, blockBytes: number) => Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  const { source } = parts[part]!
  const block = new Uint8Array(Math.min(BLOCK_BYTES, lengthBytes))
  for (let at = 0; at < lengthBytes; at += BLOCK_BYTES) {
    const inFile = block.subarray(0, Math.min(BLOCK_BYTES, lengthBytes - at))
    await source.read(offsetBytes + at, inFile, { signal })
    if (Buffer.compare(inFile, loaded(at, inFile.length)) !== 0) return false
  }
  return true
}

/** Error of a loaded tensor that differs from the model file, or is missing in one of them. */
function tensorsDifferError(name: string): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_TENSORS_DIFFER',
    'verification',
    `Loaded tensor ${printable(name)} differs from the model file`,
    {
      next: 'report this as a defect of gpunvme',
    },
  )
}
