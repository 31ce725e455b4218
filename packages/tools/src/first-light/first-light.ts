import { callerOf, requireRoot } from '../command-line/advised-command.js'
import { version } from '../command-line/program.js'
import type { Context } from '../command-line/verb.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import { requireImageFile } from '../drive/image-file.js'
import { refuseEmulated } from '../drive/open-named.js'
import { requireNamedDrive } from '../drive/require-named.js'
import { requireGpu } from '../loading/load-request.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { isBound } from './bind-steps.js'
import { Redactor } from './redact.js'
import { ReportFile } from './report-file.js'
import type { FirstLightReport, Outcome } from './report.js'
import { runSteps, type RunFlags, type RunParts } from './run-steps.js'
import { secretsOfProcess } from './secrets.js'
import { Sequence } from './sequence.js'

export interface FirstLightFlags extends RunFlags, OutputOptions {
  readonly output?: string
}

/** Where the report goes. */
const PAGE = 'https://github.com/gpunvme/gpunvme/blob/main/docs/evidence/hardware/contribute.md'

/** Runs all steps, and keeps their report in a new file. @param parts for tests */
export async function runFirstLight(
  flags: FirstLightFlags,
  { output, session }: Pick<Context, 'output' | 'session'>,
  parts: Pick<RunParts, 'open' | 'findReach'> = {},
): Promise<void> {
  const drive = await requireUsable(flags)
  if (drive !== undefined && !isBound(drive)) requireRoot('/', session)
  const startedAt = new Date().toISOString()
  const file = await ReportFile.create(flags.output ?? `first-light-${startedAt.slice(0, 10)}.json`)
  const redactor = new Redactor()
  redactor.add(secretsOfProcess(output.io, flags, file.path))
  redactor.add({ names: [callerOf(session).user], identifiers: [flags.serial ?? ''] })
  const report: FirstLightReport = {
    gpunvme: version(),
    node: process.version,
    startedAt,
    drive: drive === undefined ? {} : { simulated: false, address: drive.bdf },
    gpu: flags.gpu ?? 0,
    staticBar1: flags.staticBar1 ?? false,
    outcome: 'running',
    steps: [],
  }
  const save = () => file.write(`${JSON.stringify({ schema: 'gpunvme.first-light/1', ...report }, undefined, 2)}\n`)
  const sequence = new Sequence({ report, save, redactor, output, signal: session.signal })
  await runSteps({ flags, drive, report, sequence, redactor, output, session, ...parts })
  await sequence.finish()
  output.print('', describeEnd(report), `Report: ${printable(file.path)}`)
  if (isWorthSending(report)) output.print(`Where to send it: ${PAGE}`)
  output.object('gpunvme.first-light/1', report)
  session.exitCode = sequence.exitCode
}

/** Rejects wrong arguments before anything is created. @returns the drive on this machine's bus, if it is one */
async function requireUsable(flags: FirstLightFlags): Promise<FoundDrive | undefined> {
  const { drive, image, gpu } = flags
  await requireNamedDrive(flags)
  if (gpu !== undefined) requireGpu(gpu, 'omit --gpu, for the steps that need no GPU')
  if (image !== undefined) await requireImageFile(image, 'read')
  if (drive === undefined) return undefined
  refuseEmulated(flags)
  return findDrive(drive)
}

function describeEnd({ steps }: FirstLightReport): string {
  const count = (wanted: Outcome) => steps.filter(({ outcome }) => outcome === wanted).length
  return `${plural(count('passed'), 'step')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}

/** A simulated drive without a GPU shows nothing that tests do not. */
function isWorthSending({ drive, steps }: FirstLightReport): boolean {
  return drive.simulated !== true || steps.some(({ machine }) => machine?.gpu != null)
}
