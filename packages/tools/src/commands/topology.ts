import type { Command } from 'commander'
import { addOutputOptions, examples } from '../command-line/options.js'
import { isKnown, lanesOf, readMachine, treeOf, type Branch, type Machine } from '../machine/index.js'
import { describePaths, gpuDrivePaths } from '../machine/views/describe-paths.js'
import { drawTree } from '../machine/views/draw-tree.js'
import { hanging } from '../machine/views/names.js'
import { linkNotes } from '../machine/views/link-notes.js'
import type { Session } from '../program.js'
import { Output, type OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { wrap } from '../terminal/table.js'

interface Flags extends OutputOptions {
  readonly root: string
  readonly all?: boolean
}

export function topology(command: Command, session: Session): void {
  command
    .option('--all', 'all functions, including host bridges')
    .option('--root <dir>', 'a copy of a machine made by doctor --save', '/')
    .action((flags: Flags) => run(flags, new Output(flags, session.io)))
  addOutputOptions(command)
  command.addHelpText('after', ABOUT)
  examples(command, ['gpunvme topology', 'gpunvme topology --json'])
}

const ABOUT = `
Prints PCI functions as a tree, each with its link ('Gen1 x8 of Gen3 x8': the
current link, and the maximum of both ends). Then, for each GPU and SSD: their
common upstream port, the slowest link between them, and whether peer-to-peer
(P2P) traffic is expected to work. That is an estimate from the platform and
ACS; gpunvme p2p --probe tests it.

Read-only; a GPU in D3cold stays there. Without root, the kernel shows only 64
bytes of configuration space, and the rest is reported as unknown. CPU and
chipset lanes are distinguished by port and chipset IDs, which are meaningless
in a virtual machine.

An idle GPU lowers its link speed; the number of lanes is reliable.

On a machine with a GPU and an SSD:
  # gpunvme topology
  # gpunvme topology --root saved-by-doctor --json`

async function run({ root, all = false }: Flags, output: Output): Promise<void> {
  const machine = await readMachine(root)
  const { columns } = output
  output.print(describe(machine, all, columns))
  output.object('gpunvme.topology/1', summary(machine))
}

/** Returns the output, in lines of at most `columns`. */
export function describe(machine: Machine, all: boolean, columns: number): string[] {
  const paths = gpuDrivePaths(machine)
  const notes = linkNotes(machine)
  return [
    ...wrap(headline(machine), columns, '  '),
    '',
    ...(machine.functions.length === 0 ? ['No PCI functions found.'] : drawTree(machine, { all, columns })),
    ...(notes.length === 0 ? [] : ['', 'Links', ...notes.flatMap((note) => hanging('  ', note, columns))]),
    '',
    ...(paths.length > 0
      ? ['Between GPU and SSD', ...iommuLine(machine, columns), ...describePaths(machine, paths, columns)]
      : [whatIsMissing(machine)]),
  ]
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

function whatIsMissing({ gpus, drives }: Machine): string {
  const own = gpus.filter(({ isIntegrated }) => !isIntegrated)
  const graphics = gpus.length > own.length ? ', only integrated graphics' : ''
  if (own.length === 0 && drives.length === 0) return `No GPU${graphics} and no NVMe SSD found.`
  return own.length === 0 ? `No GPU found${graphics}.` : 'No NVMe SSD found.'
}

function iommuLine({ iommu }: Machine, columns: number): string[] {
  if (iommu.mode !== 'translated' && iommu.mode !== 'mixed') return []
  return hanging('  ', "The IOMMU translates addresses: accesses outside the sender's mappings are blocked.", columns)
}

/** Returns the same data for JSON. */
export function summary(machine: Machine): object {
  const plain = ({ found, behind }: Branch): object => ({
    ...found,
    lanes: lanesOf(machine, found.address),
    behind: behind.map(plain),
  })
  return {
    board: machine.board,
    cpu: machine.cpu,
    kernel: machine.kernel.release,
    iommu: { mode: machine.iommu.mode, kind: machine.iommu.kind, evidence: machine.iommu.evidence },
    virtualisation: machine.virtualisation,
    hostBridges: treeOf(machine).map(({ hostBridge, branches }) => ({ hostBridge, behind: branches.map(plain) })),
    gpus: machine.gpus,
    drives: machine.drives.map(({ address, name, model }) => ({ address, name, model })),
    notes: linkNotes(machine),
    paths: gpuDrivePaths(machine),
  }
}
