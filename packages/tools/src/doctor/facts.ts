import type { CudaStatus } from '@gpunvme/cuda-native'
import { commandFor, isLive } from '../command-line/advised-command.js'
import type { CommandStep } from '../command-line/next-step.js'
import { isKnown, type Known } from '../machine/known.js'
import type { Gpu, Machine } from '../machine/machine.js'
import type { NvidiaDriver } from '../nvidia/index.js'

/** Input of the checks: plain data. */
export interface Facts {
  readonly machine: Machine
  readonly nvidia: NvidiaDriver
  /** Capabilities of this process; undefined for the tree of another machine. */
  readonly process: ProcessFacts | undefined
}

export interface ProcessFacts {
  readonly isRoot: boolean
  readonly addon: AddonState
  readonly cuda: CudaStatus
}

/** Whether the addon `gpunvme_host` loads, which real drives require. */
export type AddonState =
  | { readonly isLoaded: true }
  | { readonly isLoaded: false; readonly reasons: readonly string[]; readonly next: string }

/** Returns the memory size of a GPU, from its driver's files or from CUDA. */
export function memoryOf({ process }: Facts, { address, memoryBytes }: Gpu): Known<number> {
  const devices = process?.cuda.available === true ? process.cuda.devices : []
  return isKnown(memoryBytes) ? memoryBytes : (devices.find(({ bdf }) => bdf === address)?.memoryBytes ?? memoryBytes)
}

/** Returns the path of a function's file in /sys, for evidence. */
export function sysfs(address: string, file: string): string {
  return `/sys/bus/pci/devices/${address}/${file}`
}

/**
 * Returns a command of this program for the examined machine. Read-only verbs take its files by --root; others run on
 * that machine.
 * @param as 'root' for commands that require root.
 */
export function gpunvme({ machine: { root } }: Facts, words: string, as?: 'root'): CommandStep {
  const reads = /^(doctor|driver)\b/.test(words)
  const command = words.split(' ')
  const isElsewhere = !isLive(root)
  return isElsewhere && reads ? commandFor(root, command) : { command, isElsewhere, asRoot: as === 'root' }
}
