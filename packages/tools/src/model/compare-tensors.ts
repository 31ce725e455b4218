import type { HostCopyMemory, ResidentLease } from '@gpunvme/layer-loader'
import type { Model, Tensor } from '@gpunvme/layer-loader/formats'
import { ToolsError } from '../command-line/tools-error.js'
import type { Rig } from '../rig/open-rig.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { handOut } from './passes.js'

/** Small enough for a processor's cache, so that comparing reads each block from memory once. */
const BLOCK_BYTES = 1024 * 1024

export interface ComparisonReport {
  /** Tensors that equal those of the file: all of them. */
  readonly tensors: number
  /** Wall time of one more pass, reading the file and comparing. */
  readonly wallNs: number
}

/**
 * Takes a model in host memory through one more pass and compares each tensor with the model file, byte by byte. Equal
 * checksums alone would not reveal a mistake in packing.
 * @throws TensorsDifferError
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
    const { bytes } = memory as HostCopyMemory
    for (const { name, offsetBytes, lengthBytes } of tensors) {
      const tensor = missing.get(name)
      const loaded = bytes.subarray(offsetBytes, offsetBytes + lengthBytes)
      if (tensor === undefined || !(await isEqual(file, tensor, loaded, signal))) throw new TensorsDifferError(name)
      missing.delete(name)
    }
  }
  await handOut(rig, { isLast: true, signal }, new Progress(output, 'comparing'), compareLayer)
  for (const name of missing.keys()) throw new TensorsDifferError(name)
  return { tensors: file.tensors.length, wallNs: Math.round((performance.now() - startMs) * 1e6) }
}

async function isEqual(
  { parts }: Model,
  { part, offsetBytes, lengthBytes }: Tensor,
  loaded: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  if (loaded.length !== lengthBytes) return false
  const { source } = parts[part]!
  const block = new Uint8Array(Math.min(BLOCK_BYTES, lengthBytes))
  for (let at = 0; at < lengthBytes; at += BLOCK_BYTES) {
    const inFile = block.subarray(0, Math.min(BLOCK_BYTES, lengthBytes - at))
    await source.read(offsetBytes + at, inFile, { signal })
    if (Buffer.compare(inFile, loaded.subarray(at, at + inFile.length)) !== 0) return false
  }
  return true
}

/** A tensor of the loaded model that differs from the model file, or is missing in one of them. */
export class TensorsDifferError extends ToolsError {
  readonly code = 'ERR_GPUNVME_TENSORS_DIFFER'
  readonly category = 'verification'
  constructor(name: string) {
    super(`Tensor ${printable(name)} was loaded, and differs from the model file`, {
      next: 'this is a defect of gpunvme: please report it',
    })
  }
}
