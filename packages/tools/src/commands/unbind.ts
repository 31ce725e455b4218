import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import { requireRoot } from '../command-line/advised-command.js'
import { describeSteps } from '../binding/describe-steps.js'
import { driverName } from '../binding/driver-choice.js'
import { giveBack, type GivenBack } from '../binding/give-back.js'
import { requireSysfs } from '../binding/require-sysfs.js'
import { readEntry, rememberedAddresses } from '../binding/state-files.js'
import { errorLines, errorText, type ErrorText } from '../command-line/error-text.js'
import { EXIT } from '../command-line/exit-codes.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { addressOf, findDrive } from '../drive/find-drive.js'
import type { Output, OutputOptions } from '../terminal/output.js'

/** Time to wait for another gpunvme, and for users of the drive to end. */
const WAIT_MS = 5_000

interface Flags extends OutputOptions {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly root: string
}

const ABOUT = `
Rebinds the previous driver and restores driver_override and power/control. This
also undoes a gpunvme bind that was killed halfway. A driver bound by other
means is left alone, and a drive in use by a process is refused with the name of
the process. A reboot undoes bindings; unbind then only removes the record.

On a machine with a drive that was bound, as root:
  # gpunvme unbind nvme1
  # gpunvme unbind 0b:00.0 --dry-run
  # gpunvme unbind --all`

export const unbind = verb({
  options(command) {
    command
      .argument('[address]', 'drive: 0000:0b:00.0, 0b:00.0, or its former Linux name, nvme0')
      .option('--all', 'all drives bound by gpunvme')
      .option('--dry-run', 'print the steps without performing them')
      .option('--root <dir>', 'folder with sys/, proc/ and run/; a copy of a machine needs --dry-run', '/')
  },
  needs: 'root',
  about: ABOUT,
  examples: ['gpunvme unbind --all --dry-run', 'gpunvme unbind --all --dry-run --json'],
  run,
})

/** A drive that could not be returned to its driver. */
interface Failure extends ErrorText {
  readonly address: string
  readonly code: string
  readonly category: ErrorCategory
}

async function run(address: string | undefined, flags: Flags, { output, session }: Context): Promise<void> {
  const { root, all = false, dryRun = false } = flags
  if ((address === undefined) !== all)
    throw new UsageError(all ? '--all and an address are mutually exclusive' : 'unbind requires a drive', {
      next: [
        { command: ['unbind', 'ADDRESS'] },
        { command: ['unbind', '--all'] },
        { command: ['list'], note: 'which shows what is bound' },
      ],
    })
  if (!dryRun) await requireSysfs(root, 'unbind')
  const addresses = address === undefined ? await rememberedAddresses(root) : [await rememberedAs(address, root)]
  if (addresses.length > 0 && !dryRun) requireRoot(root, session)
  const done: GivenBack[] = []
  const failures: Failure[] = []
  for (const bdf of addresses) {
    session.signal.throwIfAborted()
    try {
      done.push(await giveBack(root, bdf, { isDryRun: dryRun, waitMs: dryRun ? 0 : WAIT_MS }))
    } catch (error) {
      // With --all, the other drives are still returned.
      if (!all || !(error instanceof GpuNvmeError)) throw error
      failures.push({
        address: bdf,
        code: error.code,
        category: error.category,
        ...errorText(error, output.invocation),
      })
    }
  }
  report(done, failures, dryRun, output)
  if (failures[0] !== undefined) session.exitCode = EXIT[failures[0].category]
}

/** Returns the address of a drive, also if it is gone from the bus but recorded. */
async function rememberedAs(text: string, root: string): Promise<string> {
  const bdf = addressOf(text, root)
  return (await readEntry(root, bdf)) === undefined ? findDrive(text, root).bdf : bdf
}

function report(done: readonly GivenBack[], failures: readonly Failure[], dryRun: boolean, output: Output): void {
  if (done.length + failures.length === 0) output.print('No drive is bound by gpunvme.')
  for (const each of done) output.print(describe(each, dryRun))
  for (const failure of failures) output.error(errorLines(failure))
  output.object('gpunvme.unbind/1', {
    dryRun,
    drives: done.map(({ entry, result, reason = null, driver, steps }) => ({
      address: entry.record.bdf,
      name: entry.name,
      result,
      reason,
      driver: driver ?? null,
      steps,
    })),
    failures,
  })
}

function describe({ entry: { record }, result, reason, driver, steps }: GivenBack, dryRun: boolean): string[] {
  if (result === 'forgotten')
    return [`${record.bdf}: its record ${dryRun ? 'would be' : 'was'} deleted: ${reason ?? ''}`]
  const to = record.previous === null && !record.isProbed ? 'no driver, as before' : driverName(record.previous)
  if (dryRun) return [`${record.bdf} would be returned to ${to}`, ...describeSteps(steps)]
  return [`${record.bdf} was returned to ${driverName(driver)}`]
}
