import { readRemembered } from '../binding/drive-status.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { addressesOf } from '../machine/addresses.js'
import { addressOf } from '../drive/find-drive.js'
import { describeDrive, describeGpu } from '../list/describe-drive.js'
import { describePlace, describeTopology } from '../list/describe-topology.js'
import { devicesJson, reachJson, topologyJson } from '../list/json.js'
import { listDrives, type ListedDrive } from '../list/listed-drive.js'
import { driveLines, gpuLines, type ListOptions } from '../list/tables.js'
import { readMachine, type Machine } from '../machine/index.js'
import type { OutputOptions } from '../terminal/output.js'

interface Flags extends OutputOptions {
  readonly topology?: boolean
  readonly all?: boolean
  readonly root: string
}

const ABOUT = `
Lists NVMe drives and GPUs: address, name, model, size, driver and link. Below
each drive are its users, or its partitions and file systems (from the kernel
and udev). If gpunvme bound it: when, for which user, and the transport that
opens it. The next command comes last. 'Gen1 x8 of Gen3 x8' is the current link
and the maximum of both ends: an idle GPU lowers its link speed, but not its
lane count. WINDOW is the size of a GPU's memory window (BAR1).

Drives are listed regardless of driver. Model and size come from Linux's nvme
driver, or from the record of a binding by gpunvme; otherwise the model comes
from the list of PCI IDs. With ADDRESS, the serial number is printed too.

Peer-to-peer (P2P) traffic, with ADDRESS or --topology: doorbells (the GPU
writes to the SSD's registers: engine cuda), data (the SSD writes to GPU memory:
tier 2), queues (the SSD reads GPU memory: tier 3). Whether it is expected to
work is an estimate from the platform and ACS; gpunvme bench p2p tests it. CPU
and chipset lanes are distinguished by port and chipset IDs, which are
meaningless in a virtual machine.

Read-only; a GPU in D3cold stays there. Without root, the users of a drive may
remain unknown, and the kernel shows only 64 bytes of configuration space.

On a machine with a GPU or an SSD:
  # gpunvme list nvme0
  # gpunvme list 0a:00.0 --json
  # gpunvme list --topology --root saved-by-doctor`

export const list = verb({
  options(command) {
    command
      .argument('[address]', 'describe one drive or GPU: 0000:0b:00.0, 0b:00.0 or nvme0')
      .option('--topology', 'show the PCIe tree and peer-to-peer reachability instead')
      .option('--all', 'with --topology: all functions, including host bridges')
      .option('--root <dir>', 'a copy of a machine made by doctor --save', '/')
  },
  about: ABOUT,
  examples: ['gpunvme list', 'gpunvme list --topology', 'gpunvme list --json', 'gpunvme list --topology --json'],
  run,
})

async function run(word: string | undefined, { topology = false, all = false, root }: Flags, { output }: Context) {
  if (word !== undefined && topology)
    throw new UsageError('ADDRESS and --topology are mutually exclusive', { next: 'omit one of them' })
  if (all && !topology)
    throw new UsageError('--all requires --topology', { next: { command: ['list', '--topology', '--all'] } })
  const read = await readMachine(root)
  const drives = listDrives(read, await readRemembered(root))
  const machine = { ...read, drives: drives.filter(({ found }) => found !== undefined) }
  const { columns, invocation } = output
  const options = { columns, invocation, now: Date.now() }
  if (word !== undefined) {
    const address = listedAddress(machine, drives, word)
    output.print(describeOne(machine, drives, address, options))
    const isIt = (device: { readonly address: string }) => device.address === address
    const only = { ...machine, gpus: machine.gpus.filter(isIt), otherDisks: [] }
    output.object(SCHEMA, { ...devicesJson(only, drives.filter(isIt), invocation), ...reachJson(machine, address) })
    return
  }
  output.print(topology ? describeTopology(machine, all, columns) : describeAll(machine, drives, options))
  output.object(SCHEMA, {
    ...devicesJson(machine, drives, invocation),
    ...(topology && { ...reachJson(machine), ...topologyJson(machine) }),
  })
}

const SCHEMA = 'gpunvme.list/1'

/** Returns the output without options, in lines of at most `columns`. */
export function describeAll(machine: Machine, drives: readonly ListedDrive[], options: ListOptions): string[] {
  return [...driveLines(machine, drives, options), '', ...gpuLines(machine, options)]
}

/** Returns the output for one drive or GPU. */
export function describeOne(
  machine: Machine,
  drives: readonly ListedDrive[],
  address: string,
  options: ListOptions,
): string[] {
  const drive = drives.find((each) => each.address === address)
  const gpu = machine.gpus.find((each) => each.address === address)
  return [
    ...(drive === undefined ? [] : describeDrive(machine, drive, options)),
    ...(gpu === undefined ? [] : describeGpu(machine, gpu, options)),
    ...(drive !== undefined && drive.found === undefined
      ? []
      : ['', ...describePlace(machine, address, options.columns)]),
  ]
}

/** Returns the address of a GPU or drive, also of a drive that is gone but recorded. @throws errors of the two lookups */
function listedAddress(machine: Machine, drives: readonly ListedDrive[], word: string): string {
  const address = /nvme\d|\.[0-7]$/.test(word) ? addressOf(word, machine.root) : word
  return drives.some((drive) => drive.address === address) ? address : addressesOf(machine, [address])[0]!
}
