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
    .option('--root <dir>', 'a copy of a machine made by doctor --save', '/')
    .action((flags: Flags) => run(flags, new Output(flags, session.io)))
  addOutputOptions(command)
  command.addHelpText('after', ABOUT)
  examples(command, ['gpunvme list', 'gpunvme list --json'])
}

const ABOUT = `
Lists NVMe drives and GPUs: address, name, model, size, driver and link. Below
each drive: its users, or its partitions and file systems as known to the kernel
and udev, and the next command. 'Gen1 x8 of Gen3 x8' is the current link and the
maximum of both ends. WINDOW is the size of a GPU's memory window (BAR1).

Drives are listed whatever their driver. Model and size come from Linux's nvme
driver; otherwise the model comes from the list of PCI IDs.

Read-only. Without root, the users of a drive may remain unknown.

On a machine with a GPU or an SSD:
  # gpunvme list
  # gpunvme list --root saved-by-doctor --json`

async function run({ root }: Flags, output: Output): Promise<void> {
  const machine = await readMachine(root)
  output.print(describe(machine, output.columns, output.invocation))
  output.object('gpunvme.list/1', listed(machine, output.invocation))
}

/** Returns the output, in lines of at most `columns`. */
export function describe(machine: Machine, columns: number, invocation: Invocation): string[] {
  return [...driveLines(machine, columns, invocation), '', ...gpuLines(machine, columns, invocation)]
}
