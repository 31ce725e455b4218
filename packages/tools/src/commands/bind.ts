import { headline, reportBound, reportPlan } from '../binding/bind-report.js'
import { requireRoot } from '../command-line/advised-command.js'
import { shellLine } from '../terminal/invocation.js'
import { driverName, type Target } from '../binding/driver-choice.js'
import { requireSysfs } from '../binding/require-sysfs.js'
import { runBound } from '../binding/run-bound.js'
import { takeDrive } from '../binding/take-drive.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import type { ConfirmFlags } from '../drive/confirm-drive.js'
import { addTakingOptions, confirmTaking, findUnbound, planTaking, takingOf } from '../drive/plan-taking.js'
import type { OutputOptions } from '../terminal/output.js'
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
    addTakingOptions(command)
      .option('--dry-run', 'print the steps without performing them')
      .option('--root <dir>', 'folder with sys/, proc/ and run/; a copy of a machine needs --dry-run', '/')
  },
  needs: 'root',
  about: ABOUT,
  examples: ['gpunvme list', 'gpunvme list --json'],
  run,
})

async function run(address: string, words: string[], flags: Flags, { output, session }: Context): Promise<void> {
  const { root, dryRun = false } = flags
  if (!dryRun) await requireSysfs(root, 'bind')
  const [program, ...args] = words
  if (program !== undefined && output.json)
    throw new UsageError("--json and a command are mutually exclusive: the output is the command's")
  const drive = await findUnbound(address, root)
  if (!dryRun) requireRoot(root, session)
  const binding = await planTaking(drive, flags.to, root)
  const { steps } = binding
  if (dryRun) {
    reportPlan(output, binding)
    return
  }
  await confirmTaking(binding, flags, output, session.signal)
  const taking = takingOf(binding, session)
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
