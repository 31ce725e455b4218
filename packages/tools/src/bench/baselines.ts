import { existsSync } from 'node:fs'
import type { BenchReason, BenchSource } from '../report/bench-results.js'

export const BASELINES = ['pread', 'io_uring', 'cufile'] as const
export type BaselineName = (typeof BASELINES)[number]

/** Parameters of fio for a baseline. */
export interface BaselineKind {
  readonly source: BenchSource
  readonly fioEngine: string
  readonly engineOptions: readonly string[]
  /** Whether each thread has one call in flight, so that the depth is the number of threads. */
  readonly isSynchronous: boolean
}

export const BASELINE_KINDS: Readonly<Record<BaselineName, BaselineKind>> = {
  pread: {
    source: {
      name: 'pread',
      kind: 'baseline',
      description: "Linux's driver by pread and O_DIRECT, one thread per command in flight (fio, psync)",
      memory: 'host',
      latencyOf: 'call',
    },
    fioEngine: 'psync',
    engineOptions: [],
    isSynchronous: true,
  },
  io_uring: {
    source: {
      name: 'io_uring',
      kind: 'baseline',
      description: "Linux's driver by io_uring and O_DIRECT (fio)",
      memory: 'host',
      latencyOf: 'call',
    },
    fioEngine: 'io_uring',
    engineOptions: [],
    isSynchronous: false,
  },
  cufile: {
    source: {
      name: 'cufile',
      kind: 'baseline',
      description: 'GPUDirect Storage, one thread per command in flight (fio, libcufile)',
      memory: 'gpu',
      latencyOf: 'call',
    },
    fioEngine: 'libcufile',
    engineOptions: ['gpu_dev_ids=0', 'cuda_io=cufile'],
    isSynchronous: true,
  },
}

/** File of cuFile's kernel module. Without the module, cuFile copies through host memory. */
const NVIDIA_FS = 'proc/driver/nvidia-fs/version'

/**
 * Returns why a baseline cannot run here; undefined if it can.
 * @param engines engines of the installed fio; undefined if fio is not installed.
 * @param root directory that contains /proc: '/'.
 */
export function missingBaseline(
  name: BaselineName,
  engines: ReadonlySet<string> | undefined,
  root: string,
): BenchReason | undefined {
  if (engines === undefined) {
    return { reason: 'it requires fio, which is not installed', next: 'install the package fio' }
  }
  const { fioEngine } = BASELINE_KINDS[name]
  if (name === 'cufile' && !existsSync(`${root}/${NVIDIA_FS}`)) {
    return {
      reason: "cuFile's kernel module nvidia-fs is not loaded: cuFile would copy through host memory",
      next: 'install the package nvidia-gds, then run modprobe nvidia-fs',
    }
  }
  if (engines.has(fioEngine)) return undefined
  return {
    reason: `the installed fio lacks the engine ${fioEngine}`,
    next:
      name === 'cufile' ? 'build fio with ./configure --enable-cuda --enable-libcufile' : 'install fio 3.13 or later',
  }
}
