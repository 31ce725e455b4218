import { CudaUnavailableError, cudaPeers, NativeAddonError, type CudaPeers } from '@gpunvme/cuda-native/cuda'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { functionAt, isKnown, pathBetween, type Machine } from '../machine/index.js'
import type { CopySettings } from './copy-matrix.js'
import { ToolsError } from '../command-line/tools-error.js'

/** CUDA's data of peers, or why CUDA is not used. */
export type AskedCuda = { readonly peers: CudaPeers } | { readonly unavailable: GpuNvmeError }

/** @throws CudaCallError if the driver is present but fails. */
export function askCuda(): AskedCuda {
  try {
    return { peers: cudaPeers() }
  } catch (error) {
    if (error instanceof CudaUnavailableError || error instanceof NativeAddonError) return { unavailable: error }
    throw error
  }
}

/** @throws ToolsError (TOO_FEW_GPUS) */
export function requireTwo(asked: AskedCuda): CudaPeers {
  if ('unavailable' in asked) throw tooFewGpusError(0, asked.unavailable)
  if (asked.peers.devices.length < 2) throw tooFewGpusError(asked.peers.devices.length)
  return asked.peers
}

/**
 * Returns the payload limit of the slowest link between two GPUs, in one direction. Undefined if unknown: for GPUs that
 * the machine does not list, and for NVLink, which alone has atomics.
 */
export function limitsBetween(machine: Machine, { devices, access }: CudaPeers): CopySettings['limitOf'] {
  return (from, to) => {
    if (access.some((reach) => reach.from === from && reach.to === to && reach.nativeAtomics)) return undefined
    const [a, b] = [from, to].map((device) => devices.find((one) => one.device === device)?.bdf ?? '')
    if (functionAt(machine, a!) === undefined || functionAt(machine, b!) === undefined) return undefined
    const { slowest } = pathBetween(machine, a!, b!)
    return isKnown(slowest) ? slowest.payloadBytesPerSecond : undefined
  }
}

/** Error of copies with fewer than two GPUs. */
export function tooFewGpusError(count: number, cause?: GpuNvmeError): ToolsError {
  const why = cause === undefined ? [] : [cause.headline]
  return new ToolsError(
    'ERR_GPUNVME_TOO_FEW_GPUS',
    'infeasible',
    `Copies between GPUs require two GPUs; CUDA lists ${count === 0 ? 'none' : 'one'}`,
    {
      facts: why,
      next: [
        { command: ['list', '--topology'], note: 'which shows how GPUs and SSDs are connected' },
        { command: ['doctor'] },
      ],
      cause,
    },
  )
}
