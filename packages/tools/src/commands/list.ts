import type { Command } from 'commander'
import type { Invocation } from '../command-line/invocation.js'
import { addOutputOptions, examples } from '../command-line/options.js'
import { readMachine, type Machine } from '../machine/index.js'
import { driveLines, gpuLines, listed } from '../machine/views/list-lines.js'
import type { Session } from '../program.js'
import { Output, type OutputOptions } from '../terminal/output.js'

interface Flags extends OutputOptions {
  readonly root: string
}

export function list(command: Command, session: Session): void {
  command
    .option('--root <dir>', "a copy of a machine's files instead of this machine", '/')
    .action((flags: Flags) => run(flags, new Output(flags, session.io)))
  addOutputOptions(command)
  command.addHelpText('after', ABOUT)
  examples(command, ['gpunvme list', 'gpunvme list --json'])
}

const ABOUT = `
NVMe drives and GPUs: address, name, model, size, driver and link. Below each
drive: its users, or its partitions and file systems as the kernel and udev know
them, and the next command. 'Gen1 x8 of Gen3 x8' is the link now,
and what both ends of it could do. WINDOW is a GPU's window to its memory, which
NVIDIA calls BAR1.

Drives are found whatever driver has them. Only Linux's nvme driver says their
model and size; of others the list of PCI IDs names the part.

Nothing is touched. Without root it may remain unknown whether a drive is used.

On a machine with a GPU or an SSD:
  # sudo gpunvme list
  # gpunvme list --root saved-by-doctor --json`

async function run({ root }: Flags, output: Output): Promise<void> {
  const machine = await readMachine(root)
  output.print(describe(machine, output.columns, output.invocation))
  output.object('gpunvme.list/1', listed(machine, output.invocation))
}

/** What is printed, in lines of at most `columns`. */
export function describe(machine: Machine, columns: number, invocation: Invocation): string[] {
  return [...driveLines(machine, columns, invocation), '', ...gpuLines(machine, columns, invocation)]
}
