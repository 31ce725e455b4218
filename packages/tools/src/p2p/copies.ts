import { CudaUnavailableError, cudaPeers, NativeAddonError, type CudaPeers } from '@gpunvme/cuda-native/cuda'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { functionAt, isKnown, pathBetween, type Machine } from '../machine/index.js'
import type { CopySettings } from './copy-matrix.js'
import { ToolsError } from '../command-line/tools-error.js'

/** What CUDA says, or why it is not to be asked. */
export type AskedCuda = { readonly peers: CudaPeers } | { readonly unavailable: GpuNvmeError }

/** @throws CudaCallError where the driver is there and fails. */
export function askCuda(): AskedCuda {
  try {
    return { peers: cudaPeers() }
  } catch (error) {
    if (error instanceof CudaUnavailableError || error instanceof NativeAddonError) return { unavailable: error }
    throw error
  }
}

/** @throws TooFewGpusError */
export function requireTwo(asked: AskedCuda): CudaPeers {
  if ('unavailable' in asked) throw new TooFewGpusError(0, asked.unavailable)
  if (asked.peers.devices.length < 2) throw new TooFewGpusError(asked.peers.devices.length)
  return asked.peers
}

/**
 * What the slowest link between two GPUs carries at most, in one direction. Undefined where it is not known: of GPUs
 * that the machine does not list, and of those that reach each other by NVLink, which alone has atomics.
 */
export function limitsBetween(machine: Machine, { devices, reaches }: CudaPeers): CopySettings['limitOf'] {
  return (from, to) => {
    if (reaches.some((reach) => reach.from === from && reach.to === to && reach.nativeAtomics)) return undefined
    const [a, b] = [from, to].map((device) => devices.find((one) => one.device === device)?.bdf ?? '')
    if (functionAt(machine, a!) === undefined || functionAt(machine, b!) === undefined) return undefined
    const { slowest } = pathBetween(machine, a!, b!)
    return isKnown(slowest) ? slowest.payloadBytesPerSecond : undefined
  }
}

/** There are no two GPUs to copy between. */
export class TooFewGpusError extends ToolsError {
  readonly code = 'ERR_GPUNVME_TOO_FEW_GPUS'
  readonly category = 'infeasible'

  constructor(count: number, cause?: GpuNvmeError) {
    const why = cause === undefined ? [] : [cause.headline]
    super(`Copies between GPUs need two of them, and CUDA has ${count === 0 ? 'none' : 'one'}`, {
      facts: why,
      next: [{ command: ['p2p'], note: 'which says how GPUs and SSDs are connected' }, { command: ['doctor'] }],
      cause,
    })
  }
}
