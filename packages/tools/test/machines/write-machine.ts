import { mkdirSync } from 'node:fs'
import { writeDriver } from '../nvidia/described-driver.js'
import type { Described } from './described.js'
import { TreeWriter } from './tree-writer.js'
import { writeDrives } from './write-drives.js'
import { placeFunctions, writeFunctions } from './write-pci.js'
import { writeModules, writeNames, writeSystem } from './write-system.js'

/** Writes the system files of a machine to the folder `into`, which stands for its '/'. */
export function writeMachine(machine: Described, into: string): void {
  mkdirSync(into, { recursive: true })
  const tree = new TreeWriter(into)
  const placed = placeFunctions(machine)
  tree.folder('sys/bus/pci/devices')
  tree.folder('sys/kernel/iommu_groups')
  writeSystem(tree, machine)
  writeFunctions(tree, machine, placed)
  writeDrives(tree, machine, placed)
  writeModules(tree, machine, placed)
  if (machine.hasNames !== false) writeNames(tree, placed)
  if (machine.nvidia === undefined) return
  const gpus = placed.flatMap(({ found, address }) =>
    found.gpuModel !== undefined && found.vendor === 0x10de ? [{ address, model: found.gpuModel }] : [],
  )
  writeDriver(into, machine.nvidia, { kernel: machine.kernel, gpus })
}
