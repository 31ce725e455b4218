import { existsSync } from 'node:fs'
import type { BenchReason, BenchSource } from '../report/bench-results.js'

export const BASELINES = ['pread', 'io_uring', 'cufile'] as const
export type BaselineName = (typeof BASELINES)[number]

/** How fio does it. */
export interface BaselineKind {
  readonly source: BenchSource
  readonly fioEngine: string
  readonly engineOptions: readonly string[]
  /** One call of a thread at a time: what is in flight takes as many threads. */
  readonly isSynchronous: boolean
}

export const BASELINE_KINDS: Readonly<Record<BaselineName, BaselineKind>> = {
  pread: {
    source: {
      name: 'pread',
      kind: 'baseline',
      description: "Linux's driver by pread and O_DIRECT, a thread for each that is in flight (fio, psync)",
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
      description: 'GPUDirect Storage, a thread for each that is in flight (fio, libcufile)',
      memory: 'gpu',
      latencyOf: 'call',
    },
    fioEngine: 'libcufile',
    engineOptions: ['gpu_dev_ids=0', 'cuda_io=cufile'],
    isSynchronous: true,
  },
}

/** What cuFile's kernel module shows once it is loaded. Without it cuFile copies through host memory. */
const NVIDIA_FS = 'proc/driver/nvidia-fs/version'

/**
 * Why a baseline cannot be run here; undefined where it can.
 * @param engines those of this machine's fio; undefined where there is none.
 * @param root where /proc is: '/'.
 */
export function missingBaseline(
  name: BaselineName,
  engines: ReadonlySet<string> | undefined,
  root: string,
): BenchReason | undefined {
  if (engines === undefined) {
    return { reason: 'it is measured by fio, which is not installed', next: 'install the package fio' }
  }
  const { fioEngine } = BASELINE_KINDS[name]
  if (name === 'cufile' && !existsSync(`${root}/${NVIDIA_FS}`)) {
    return {
      reason: "cuFile's kernel module nvidia-fs is not loaded: cuFile would only copy through host memory",
      next: 'the package nvidia-gds, then modprobe nvidia-fs',
    }
  }
  if (engines.has(fioEngine)) return undefined
  return {
    reason: `this fio was built without its engine ${fioEngine}`,
    next: name === 'cufile' ? 'fio built with ./configure --enable-cuda --enable-libcufile' : 'fio 3.13 or later',
  }
}
