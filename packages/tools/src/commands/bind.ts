import { UNSEEN_USES } from '@gpunvme/host-driver'
import { planBinding } from '@gpunvme/host-driver/pci'
import { InvalidArgumentError, Option } from 'commander'
import { headline, reportBound, reportPlan, type BindingOf } from '../binding/bind-report.js'
import { callerOf, requireRoot } from '../command-line/advised-command.js'
import { shellLine } from '../terminal/invocation.js'
import { chooseDriver, driverName, TARGETS, type Target } from '../binding/driver-choice.js'
import { driveFacts } from '../binding/drive-facts.js'
import { describeLosses, readLosses } from '../binding/lost-devices.js'
import { requireSysfs } from '../binding/require-sysfs.js'
import { runBound } from '../binding/run-bound.js'
import { readEntry } from '../binding/state-files.js'
import { refuseBound, takeDrive, type Taking } from '../binding/take-drive.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { confirmChange, type ConfirmFlags } from '../drive/confirm-drive.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'

interface Flags extends OutputOptions, ConfirmFlags {
  readonly to?: Target
  readonly dryRun?: boolean
  readonly root: string
}

const ABOUT = `
Unbinds Linux's driver and binds the drive to user space. Its block devices,
which are listed first, disappear until unbind; their data are unchanged. A
drive in use (mounted, swap, RAID, LVM, open in a process) is refused and its
users are named; the check is repeated after Linux's driver has let go. Only
driver, driver_override and power/control of this function are changed.

Driver, requirements, transport:
  kmod      the module gpunvme; root if no IOMMU translates; kmod
  vfio-pci  an IOMMU, which limits DMA to our memory; vfio
  none      no IOMMU or iommu=pt, root and huge pages; sysfs

Without a command, the drive stays bound until gpunvme unbind or a reboot. With
a command, it is returned when the command ends, also by a signal or a crash: a
second process watches over that. Changes are recorded in
run/gpunvme/ADDRESS.json; gpunvme list shows them.

On a machine with an NVMe drive to spare, as root:
  # gpunvme bind nvme1 --dry-run
  # gpunvme bind nvme1
  # gpunvme bind 0b:00.0 --to vfio-pci --serial S64DMX0T --yes
  # gpunvme bind nvme1 -- gpunvme nvme identify --drive 0b:00.0`

export const bind = verb({
  options(command) {
    command
      .argument('<address>', 'drive: 0000:0b:00.0, 0b:00.0 or nvme0')
      .argument('[command...]', 'after --: command to run while the drive is bound')
      .addOption(
        new Option('--to <driver>', 'vfio-pci, kmod or none (default: what the machine allows)').argParser(parseTarget),
      )
      .option('--serial <serial>', 'required serial number of the drive')
      .option('--yes', 'with --serial: bind without confirmation')
      .option('--dry-run', 'print the steps without performing them')
      .option('--root <dir>', 'folder with sys/, proc/ and run/; a copy of a machine needs --dry-run', '/')
  },
  needs: 'root',
  about: ABOUT,
  examples: ['gpunvme list', 'gpunvme list --json'],
  run,
})

function parseTarget(text: string): Target {
  if (!Object.hasOwn(TARGETS, text)) throw new InvalidArgumentError('Expected vfio-pci, kmod or none.')
  return text as Target
}

async function run(address: string, words: string[], flags: Flags, { output, session }: Context): Promise<void> {
  const { root, dryRun = false } = flags
  if (!dryRun) await requireSysfs(root, 'bind')
  const [program, ...args] = words
  if (program !== undefined && output.json)
    throw new UsageError("--json and a command are mutually exclusive: the output is the command's")
  const drive = findDrive(address, root)
  const entry = await readEntry(root, drive.bdf)
  if (entry !== undefined) refuseBound(root, entry)
  const choice = chooseDriver(root, drive, flags.to)
  if (!dryRun) requireRoot(root, session)
  const steps = await planBinding({ bdf: drive.bdf, driver: choice.driver, sysRoot: root })
  const namespaces = await readLosses(root, drive)
  const binding: BindingOf = { root, drive, choice, known: knownOf(root, drive), namespaces, steps }
  if (dryRun) {
    reportPlan(output, binding)
    return
  }
  if (steps.length > 0) {
    output.error(describeLosses(namespaces))
    await confirm(binding, flags, output, session.signal)
  }
  session.signal.throwIfAborted()
  const taking = { root, found: drive, driver: choice.driver, known: binding.known, by: callerOf(session) }
  if (program === undefined) {
    await takeDrive({ ...taking, isHeld: false })
    reportBound(output, binding)
    return
  }
  const onTaken = () => {
    output.note(`${headline(binding)} while this command runs: ${printable(shellLine(words))}`)
  }
  const onLost = (message: string) => output.error(message)
  session.exitCode = await runBound(taking, [program, ...args], session.signal, {
    onTaken,
    onLost,
    invocation: output.invocation,
  })
  if (steps.length > 0) output.note(`${drive.bdf} was returned to ${driverName(drive.driver)}`)
  session.signal.throwIfAborted()
}

const UNSEEN = ['No use of the drive was found. gpunvme cannot detect:', ...UNSEEN_USES.map((use) => `- ${use}`)]

async function confirm({ drive, known }: BindingOf, flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  const description = known.model ?? 'model unknown: no Linux driver is bound'
  const shown = { bdf: drive.bdf, serial: known.serial ?? undefined, description, warning: UNSEEN, change: 'take over' }
  await confirmChange(shown, flags, output, signal)
}

/** Data from Linux's driver. A record may be that of another drive, which was there before. */
function knownOf(root: string, { bdf, linuxName }: FoundDrive): Taking['known'] {
  return { name: linuxName ?? null, ...driveFacts(root, bdf) }
}
