import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import { readdir } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { isLive } from '../command-line/advised-command.js'
import { EXIT } from '../command-line/exit-codes.js'
import { attempting } from '../command-line/file-error.js'
import { typed } from '../command-line/next-step.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { addressesOf } from '../machine/addresses.js'
import { examine } from '../doctor/report/examine.js'
import type { Facts } from '../doctor/facts.js'
import { diagnosisJson } from '../doctor/report/json.js'
import { askProcess } from '../doctor/live.js'
import { probeRegistration } from '../doctor/probe-registration.js'
import { formatReport } from '../doctor/report/report.js'
import { readMachine, Root, writeLiveTree, type Saved } from '../machine/index.js'
import { readNvidia } from '../nvidia/index.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { wrap } from '../terminal/table.js'
import { formatBytes } from '../terminal/units.js'

interface Flags extends OutputOptions {
  readonly root: string
  readonly rm?: boolean
  readonly save?: string
  readonly verbose?: boolean
}

const ABOUT = `
Reads board, links, GPU memory windows, IOMMU, kernel, NVIDIA driver, CUDA and
drives, and judges what each drive and GPU can do together. Read-only: nothing
is bound or woken. Querying CUDA loads NVIDIA's driver if it is idle.

The first three lines say whether gpunvme works here, the expected rate, and the
next command; the steps follow. Rates are predicted from the preset for the
drive on this link, or from the link alone.

--verbose adds all findings, with a number, the facts that were read, and the
steps to take. The table at its end refers to them:

  ready         no obstacle found
  after 2, 3    possible after the steps of these findings
  to be tried   no obstacle found, but only a test can tell
  unknown: 4    a required fact could not be read
  no: 5         prevented by this finding, without a remedy

'ready' is a judgement from facts; the documentation lists what has run on which
hardware. Run doctor as root: other users cannot read all links, ACS and users
of drives, which doctor reports as 'unknown'.

--save DIR copies the files that were read, for a bug report: gpunvme doctor
--root DIR prints the same report from them. They contain serial numbers.

--rm maps the registers of each drive without a kernel driver and registers them
with NVIDIA's kernel module, by ioctls and without CUDA, to test its page
lookup. It starts the GPU, accesses no register, and undoes the registration at
once. Drivers 525 to 595 only; tested on stand-ins, on no GPU.

Exit code: 0 if a report was made; 7 if only the simulator can be used here.

On a machine with a GPU and an NVMe drive:
  # gpunvme doctor
  # gpunvme doctor nvme1 0a:00.0 --verbose
  # gpunvme doctor --json | jq '.pairs[] | {drive, gpu, best}'`

export const doctor = verb({
  options(command) {
    command
      .argument('[address...]', 'GPUs and drives: 0000:0b:00.0 or nvme0 (default: all)')
      .option('--root <dir>', 'a copy of a machine made by --save', '/')
      .option('--save <dir>', 'copy the files that were read into a new folder, for a bug report')
      .option('--rm', "also test whether NVIDIA's kernel module can map a drive's registers")
      .option('--verbose', 'also print all facts, checks and routes')
  },
  about: ABOUT,
  examples: ['gpunvme doctor', 'gpunvme doctor --json', 'gpunvme doctor --save machine'],
  run,
})

async function run(words: string[], flags: Flags, { output, session }: Context): Promise<void> {
  const { root, verbose = false, rm = false } = flags
  if (rm && !isLive(root))
    throw new UsageError("--rm tests this machine's driver, but --root has the files of another machine")
  if (flags.save !== undefined) await checkNew(flags.save)
  const facts = await factsOf(root)
  session.signal.throwIfAborted()
  const only = addressesOf(facts.machine, words)
  // A missing addon is already reported by a finding.
  const canAsk = rm && facts.process?.addon.isLoaded === true
  const asked = canAsk ? probeRegistration(facts, loadHardwareHost(), only) : []
  const diagnosis = examine(facts, { only, more: asked })
  const { invocation } = output
  output.print(formatReport(diagnosis, { verbose, invocation }))
  const saved = flags.save === undefined ? undefined : await save(root, flags.save, output)
  output.object('gpunvme.doctor/1', { ...diagnosisJson(diagnosis, invocation), ...(saved !== undefined && { saved }) })
  if (diagnosis.reach === 'simulator') session.exitCode = EXIT.infeasible
}

/** Checked first: a report takes a while. @throws UsageError, FileError */
async function checkNew(into: string): Promise<void> {
  const names = await attempting(`list the directory of ${into}`, () => readdir(dirname(resolve(into))))
  if (names.includes(basename(resolve(into))))
    throw new UsageError(`${printable(into)} exists`, { next: 'use --save with the name of a new directory' })
}

interface SavedJson extends Saved {
  readonly folder: string
}

/** Saves the files, and lists what private data they contain. */
async function save(root: string, into: string, output: Output): Promise<SavedJson> {
  const { files, bytes } = await writeLiveTree(root, into, { also: [(from) => readNvidia(from)] })
  const read = typed({ command: ['doctor', '--root', into] }, output.invocation)
  output.note(
    '',
    `Saved ${files} files (${formatBytes(bytes)}) in ${printable(into)}. To read them: ${read}`,
    wrap(SAVED, 80, ''),
  )
  return { folder: into, files, bytes }
}

const SAVED =
  'They contain serial numbers of drives, UUIDs of GPUs and disks, mount points, the kernel command line, module options, and the names of processes that use a drive, but no data of any disk. Check them before you share them.'

async function factsOf(root: string): Promise<Facts> {
  const from = new Root(root)
  const machine = await readMachine(from)
  const nvidia = await readNvidia(from)
  return { machine, nvidia, process: isLive(root) ? askProcess() : undefined }
}
