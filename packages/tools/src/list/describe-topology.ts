import { isKnown, type Machine } from '../machine/index.js'
import { describeReach } from '../machine/views/describe-reach.js'
import { drawTree } from '../machine/views/draw-tree.js'
import { linkNotes } from '../machine/views/link-notes.js'
import { printable } from '../terminal/printable.js'

/**
 * Describes the PCIe topology: the machine, its functions as a tree, remarks on links, and the expected peer-to-peer
 * traffic. @param all whether to print functions that do neither compute nor store.
 */
export function describeTopology(machine: Machine, all: boolean, columns: number): string[] {
  return [
    headline(machine),
    '',
    ...(machine.functions.length === 0 ? ['No PCI functions found.'] : drawTree(machine, { all, columns })),
    '',
    ...describeLinks(linkNotes(machine)),
    ...describeReach(machine),
  ]
}

/** Describes the path from the host bridge to a GPU or drive, and its expected peer-to-peer traffic. */
export function describePlace(machine: Machine, address: string, columns: number): string[] {
  return [
    ...drawTree(machine, { only: address, columns }),
    '',
    ...describeLinks(linkNotes(machine, address)),
    ...describeReach(machine, address),
  ]
}

function describeLinks(notes: readonly string[]): string[] {
  return notes.length === 0 ? [] : ['Links', ...notes.map((note) => `  ${note}`), '']
}

function headline({ board, cpu, kernel, iommu, virtualisation }: Machine): string {
  const parts = [
    board.name || 'unknown board',
    isKnown(cpu.model) ? cpu.model : 'unknown CPU',
    isKnown(kernel.release) ? `Linux ${kernel.release}` : 'unknown kernel',
    `IOMMU ${iommu.mode}`,
    ...(virtualisation.hypervisor === undefined ? [] : [`guest of ${virtualisation.hypervisor.name}`]),
    ...(virtualisation.container === undefined ? [] : [`in a container (${virtualisation.container.name})`]),
  ]
  return parts.map(printable).join(', ')
}
