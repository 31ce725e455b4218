import { stat } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import type { NextStep } from '../command-line/next-step.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { readDrives } from './drives.js'
import { readFunctions } from './functions.js'
import { readGpus } from './gpus.js'
import { readIommu } from './iommu.js'
import { readKernel, readModules } from './kernel.js'
import type { Machine } from './machine.js'
import { readMemory } from './memory.js'
import { readPciNames } from './pci-ids.js'
import { Root } from './root.js'
import { readBoard, readCpu, readDistribution, readFirmware, readNodes, readOtherDisks } from './system.js'
import { readVirtualisation } from './virtualisation.js'

/**
 * Reads the data of a machine in /sys, /proc, /etc, /boot and /lib/modules. Runs, writes and wakes nothing. Missing and
 * unreadable files are part of the result, not errors.
 * @param root '/' for this machine, or a directory with a copy of another one's files, as made by `writeLiveTree`.
 * @throws MachineNotFoundError if the directory has no files of a machine; UsageError for an empty name; FileError.
 */
export async function readMachine(root: string | Root = '/'): Promise<Machine> {
  const from = typeof root === 'string' ? new Root(root) : root
  await checkRoot(from.path)
  if (!(await from.exists('sys')) && !(await from.exists('proc'))) throw new MachineNotFoundError(from.path)
  const kernel = await readKernel(from)
  const board = await readBoard(from)
  const functions = await readFunctions(from, await readPciNames(from))
  return {
    root: from.path,
    kernel,
    modules: await readModules(from, kernel.release),
    distribution: await readDistribution(from),
    board,
    cpu: await readCpu(from),
    memory: await readMemory(from),
    firmware: await readFirmware(from),
    virtualisation: await readVirtualisation(from, board, kernel.release),
    iommu: await readIommu(from),
    functions,
    drives: await readDrives(from, functions),
    gpus: await readGpus(from, functions),
    otherDisks: await readOtherDisks(from),
    nodes: await readNodes(from),
  }
}

/** @throws UsageError for an empty name; MachineNotFoundError if it is not a directory; FileError */
export async function checkRoot(path: string): Promise<void> {
  if (path === '') throw new UsageError('--root requires the name of a directory', { next: LEAVE_OUT })
  const found = await attempting(`read ${path}`, () => stat(path), LEAVE_OUT)
  if (!found.isDirectory()) throw new MachineNotFoundError(path, 'it is not a directory')
}

const LEAVE_OUT: NextStep = [
  { words: ['use a directory made by ', { command: ['doctor', '--save', 'DIR'], isElsewhere: true }] },
  'omit --root for this machine',
]

/** Error of a path without sys/ and proc/, or that is not a directory. */
export class MachineNotFoundError extends ToolsError {
  constructor(path: string, reason = 'it has neither sys/ nor proc/') {
    super('ERR_GPUNVME_MACHINE_NOT_FOUND', 'not-found', `${path} is not a copy of a machine: ${reason}`, {
      next: LEAVE_OUT,
    })
  }
}
