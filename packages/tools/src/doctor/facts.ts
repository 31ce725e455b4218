import type { CudaStatus } from '@gpunvme/cuda-native'
import { commandFor, isLive } from '../command-line/advised-command.js'
import type { CommandStep } from '../command-line/next-step.js'
import { isKnown, type Known } from '../machine/known.js'
import type { Gpu, Machine } from '../machine/machine.js'
import type { NvidiaDriver } from '../nvidia/index.js'

/** All that the checks go by: plain data. */
export interface Facts {
  readonly machine: Machine
  readonly nvidia: NvidiaDriver
  /** What this process can do here; undefined where the tree of another machine is looked at. */
  readonly process: ProcessFacts | undefined
}

export interface ProcessFacts {
  readonly isRoot: boolean
  readonly addon: AddonState
  readonly cuda: CudaStatus
}

/** Whether the addon `gpunvme_host` loads, without which no real drive can be driven. */
export type AddonState =
  { readonly isLoaded: true } | { readonly isLoaded: false; readonly reasons: readonly string[]; readonly next: string }

/** The memory of a GPU, by its driver's files or by CUDA. */
export function memoryOf({ process }: Facts, { address, memoryBytes }: Gpu): Known<number> {
  const devices = process?.cuda.available === true ? process.cuda.devices : []
  return isKnown(memoryBytes) ? memoryBytes : (devices.find(({ bdf }) => bdf === address)?.memoryBytes ?? memoryBytes)
}

/** Where a function's files are, for evidence. */
export function sysfs(address: string, file: string): string {
  return `/sys/bus/pci/devices/${address}/${file}`
}

/**
 * Returns a command of this program for the machine that was looked at. Verbs that only read take its files by --root;
 * others are for that machine itself.
 * @param as 'root' for what only root may do there.
 */
export function gpunvme({ machine: { root } }: Facts, words: string, as?: 'root'): CommandStep {
  const reads = /^(doctor|driver)\b/.test(words)
  const command = words.split(' ')
  const isElsewhere = !isLive(root)
  return isElsewhere && reads ? commandFor(root, command) : { command, isElsewhere, asRoot: as === 'root' }
}
