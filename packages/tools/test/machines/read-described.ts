import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedFolder } from '../../../../test/shared-folder.js'
import { readMachine, type Machine } from '../../src/machine/index.js'
import type { Described } from './described.js'
import { writeMachine } from './write-machine.js'

/** Writes a machine, lets `use` have its root, and takes it away again. */
export async function withMachine<T>(machine: Described, use: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'gpunvme-machine-'))
  try {
    writeMachine(machine, root)
    return await use(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Returns the root of a described machine that the workers of the run share: read it, do not change it. */
export function rootOf(machine: Described): Promise<string> {
  return sharedFolder(machine.name, (root) => {
    writeMachine(machine, root)
  })
}

/** Returns what is read of a described machine, as if its root were '/': no golden holds the name of a scratch folder. */
export async function readDescribed(machine: Described): Promise<Machine> {
  return { ...(await readMachine(await rootOf(machine))), root: '/' }
}
