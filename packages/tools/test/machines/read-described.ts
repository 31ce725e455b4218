import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sharedFolder } from '../../../../test/shared-folder.js'
import { readMachine, type Machine } from '../../src/machine/index.js'
import type { Described } from './described.js'
import { writeMachine } from './write-machine.js'

/** Writes a machine, calls `use` with its root, then deletes it. */
export async function withMachine<T>(machine: Described, use: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'gpunvme-machine-'))
  try {
    writeMachine(machine, root)
    return await use(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Returns the root of a described machine, which all workers of the test run share: only read it. */
export function rootOf(machine: Described): Promise<string> {
  return sharedFolder(machine.name, (root) => {
    writeMachine(machine, root)
  })
}

const read = new Map<Described, Promise<Machine>>()

/** Reads a described machine, once, as if its root were '/', so that golden files contain no scratch paths. */
export function readDescribed(machine: Described): Promise<Machine> {
  const known = read.get(machine) ?? rootOf(machine).then(async (root) => ({ ...(await readMachine(root)), root: '/' }))
  read.set(machine, known)
  return known
}
