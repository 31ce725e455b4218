import { nvmeFunction, nvmeFunctions } from '@gpunvme/host-driver/pci'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Command } from 'commander'
import { describeStatus } from '../binding/describe-status.js'
import { statusOf, type DriveStatus, type Remembered } from '../binding/drive-status.js'
import { readEntry, rememberedAddresses } from '../binding/state-files.js'
import { typed } from '../command-line/next-step.js'
import { addOutputOptions, examples } from '../command-line/options.js'
import { addressOf } from '../drive/find-drive.js'
import { functionAt, readMachine, type Machine } from '../machine/index.js'
import type { Session } from '../program.js'
import { Output, type OutputOptions } from '../terminal/output.js'

interface Flags extends OutputOptions {
  readonly root: string
}

export function status(command: Command, session: Session): void {
  command
    .argument('[address]', 'drive: 0000:0b:00.0, 0b:00.0 or nvme0 (default: all)')
    .option('--root <dir>', 'folder with sys/, proc/ and run/', '/')
    .action((address: string | undefined, flags: Flags) => run(address, flags, new Output(flags, session.io)))
  addOutputOptions(command)
  command.addHelpText('after', ABOUT)
  examples(command, ['gpunvme status', 'gpunvme status --json'])
}

const ABOUT = `
Prints for each NVMe drive: its driver, its users, whether gpunvme bound it,
when and for which user, the transport to use, and the command that binds or
unbinds it. Read-only. Without root, the users of a drive may remain unknown.

On a machine with an NVMe drive:
  # gpunvme status nvme0
  # gpunvme status 0b:00.0 --json`

async function run(address: string | undefined, { root }: Flags, output: Output): Promise<void> {
  const machine = await readMachine(root)
  const drives = await lookAt(machine, address === undefined ? undefined : addressOf(address, root))
  if (drives.length === 0) output.print('No NVMe drives found.')
  drives.forEach((drive, index) => {
    output.print(index > 0 ? [''] : [], describeStatus(root, drive, Date.now(), output))
  })
  output.object('gpunvme.status/1', {
    drives: drives.map((drive) => ({ ...drive, next: drive.next && typed(drive.next, output.invocation) })),
  })
}

/** Returns the status of one drive, or of all: those on the bus, and those with a record. */
async function lookAt(machine: Machine, bdf: string | undefined): Promise<DriveStatus[]> {
  const { root } = machine
  const present = nvmeFunctions(root)
  const addresses = bdf === undefined ? [...new Set([...present, ...(await rememberedAddresses(root))])].sort() : [bdf]
  return Promise.all(
    addresses.map(async (each) => {
      const remembered = await recall(root, each)
      // Reports a drive that is neither present nor recorded.
      const isKnown = remembered.entry !== undefined || remembered.problem !== undefined
      const found = isKnown && !present.includes(each) ? undefined : nvmeFunction(root, each)
      const holders = machine.drives.find(({ address }) => address === each)?.holders ?? []
      const answers = functionAt(machine, each)?.answers ?? false
      return statusOf(root, each, found, { answers, holders }, remembered)
    }),
  )
}

/** Reads the record of a drive. A damaged record does not prevent showing the others. */
async function recall(root: string, bdf: string): Promise<Remembered> {
  try {
    const entry = await readEntry(root, bdf)
    return entry === undefined ? {} : { entry }
  } catch (error) {
    if (!(error instanceof GpuNvmeError)) throw error
    return { problem: error.headline }
  }
}
