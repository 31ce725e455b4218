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
    .option('--all', 'every function, those of the host bridges too')
    .option('--root <dir>', "a copy of a machine's files instead of this machine", '/')
    .action((flags: Flags) => run(flags, new Output(flags, session.io)))
  addOutputOptions(command)
  command.addHelpText('after', ABOUT)
  examples(command, ['gpunvme topology', 'gpunvme topology --json'])
}

const ABOUT = `
How GPUs and SSDs hang on this machine: the PCI functions as a tree, the link of
each at the end of its line ('Gen1 x8 of Gen3 x8': now, and what both ends could
do), then, for each GPU and SSD, where they meet, the link that carries least,
and whether peer-to-peer (P2P) may be expected to pass. That is judged from what
Linux knows of the platform and from ACS; only a probe proves it.

Nothing is run, written or woken: a GPU in D3cold stays there. Without root the
kernel shows 64 bytes of configuration space, and what is not in those is told
as unknown. Lanes of a CPU or of a chipset are told apart by where ports are and
by IDs of chipsets; in a virtual machine neither means anything.

An idle GPU slows its link down, so its speed now says little; its lanes do.

On a machine with a GPU and an SSD:
  # sudo gpunvme topology
  # gpunvme topology --root saved-by-doctor --json`

async function run({ root, all = false }: Flags, output: Output): Promise<void> {
  const machine = await readMachine(root)
  const { columns } = output
  output.print(describe(machine, all, columns))
  output.object('gpunvme.topology/1', summary(machine))
}

/** What is printed, in lines of at most `columns`. */
export function describe(machine: Machine, all: boolean, columns: number): string[] {
  const paths = gpuDrivePaths(machine)
  const notes = linkNotes(machine)
  return [
    ...wrap(headline(machine), columns, '  '),
    '',
    ...(machine.functions.length === 0 ? ['There are no PCI functions.'] : drawTree(machine, { all, columns })),
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
    ...(virtualisation.hypervisor === undefined ? [] : [`a guest of ${virtualisation.hypervisor.name}`]),
    ...(virtualisation.container === undefined ? [] : [`in a container (${virtualisation.container.name})`]),
  ]
  return parts.map(printable).join(', ')
}

function whatIsMissing({ gpus, drives }: Machine): string {
  const own = gpus.filter(({ isIntegrated }) => !isIntegrated)
  const graphics = gpus.length > own.length ? ', only graphics of the processor' : ''
  if (own.length === 0 && drives.length === 0) return `There is neither a GPU${graphics} nor an NVMe SSD.`
  return own.length === 0 ? `There is no GPU${graphics}.` : 'There is no NVMe SSD.'
}

function iommuLine({ iommu }: Machine, columns: number): string[] {
  if (iommu.mode !== 'translated' && iommu.mode !== 'mixed') return []
  return hanging('  ', 'The IOMMU translates: what is not mapped for the sender does not arrive.', columns)
}

/** The same for JSON. */
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
