import { callerOf, requireRoot } from '../command-line/advised-command.js'
import { UsageError } from '../command-line/tools-error.js'
import { version } from '../command-line/program.js'
import type { Context } from '../command-line/verb.js'
import { requireTransport } from '../drive/by-name.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import { requireImageFile } from '../drive/image-file.js'
import { refuseEmulated } from '../drive/open-named.js'
import { requireNamedDrive } from '../drive/require-named.js'
import { requireProfile } from '../drive/sim-transport.js'
import { requireGpu } from '../loading/load-request.js'
import { readMachine, Root } from '../machine/index.js'
import { readNvidia } from '../nvidia/index.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { isBound } from './bind-steps.js'
import { Redactor, type Secrets } from './redact.js'
import { ReportFile } from './report-file.js'
import type { FirstLightReport, Outcome } from './report.js'
import { runSteps, type RunFlags, type RunParts } from './run-steps.js'
import { secretsOfMachine, secretsOfProcess } from './secrets.js'
import { Sequence } from './sequence.js'

export interface FirstLightFlags extends RunFlags, OutputOptions {
  readonly output?: string
}

const SCHEMA = 'gpunvme.first-light/1'

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
  const path = flags.output ?? `first-light-${startedAt.slice(0, 19).replaceAll(':', '')}Z.json`
  const root = new Root('/')
  const facts = { machine: await readMachine(root), nvidia: await readNvidia(root) }
  const redactor = new Redactor()
  redactor.add(secretsOfProcess(output.io, flags, path))
  redactor.add({ names: [callerOf(session).user], identifiers: [flags.serial ?? ''] })
  redactor.add(await secretsOfMachine(facts))
  const report: FirstLightReport = {
    gpunvme: version(),
    node: process.version,
    startedAt,
    drive: firstFacts(flags, drive),
    gpu: flags.gpu ?? 0,
    staticBar1: flags.staticBar1 ?? false,
    outcome: 'running',
    steps: [],
  }
  const text = () => `${JSON.stringify({ schema: SCHEMA, ...redactor.values(report) }, undefined, 2)}\n`
  const file = await ReportFile.create(path, text())
  const sequence = new Sequence({ report, save: () => file.write(text()), output, signal: session.signal })
  const warnings: string[] = []
  const addSecrets = (secrets: Partial<Secrets>) => redactor.add(secrets)
  const warn = (message: string) => warnings.push(message)
  try {
    await runSteps({ flags, drive, facts, report, sequence, addSecrets, warn, output, session, ...parts })
    await sequence.finish()
    output.print('', describeEnd(report), `Result: ${report.outcome}`, `Report: ${printable(path)}`)
    if (isWorthSending(report)) output.print(`Where to send it: ${PAGE}`)
    output.object(SCHEMA, redactor.values(report))
    session.exitCode = sequence.exitCode
  } finally {
    // Last, so that it is not overlooked.
    for (const warning of warnings) output.error(warning)
  }
}

/** Returns what is known of the drive before it is opened. A served drive may be simulated or not. */
function firstFacts({ socket }: FirstLightFlags, drive: FoundDrive | undefined): FirstLightReport['drive'] {
  if (drive !== undefined) return { simulated: false, address: drive.bdf }
  return socket === undefined ? { simulated: true } : {}
}

/** Validates the arguments before any file is created. @returns the drive on this machine's bus, if it is one */
async function requireUsable(flags: FirstLightFlags): Promise<FoundDrive | undefined> {
  const { drive, image, gpu, output, transport, profile } = flags
  await requireNamedDrive(flags)
  if (output === '') throw new UsageError('--output requires a file name', { next: 'omit --output' })
  if (transport !== undefined) requireTransport(transport)
  if (profile !== undefined) requireProfile(profile)
  requireTogether(flags)
  if (gpu !== undefined) requireGpu(gpu, 'omit --gpu to run only the steps that need no GPU')
  if (image !== undefined) await requireImageFile(image, 'read')
  if (drive === undefined) return undefined
  refuseEmulated(flags)
  return findDrive(drive)
}

/** @throws UsageError for options that apply to other drives only */
function requireTogether(flags: FirstLightFlags): void {
  const { drive, transport = 'sim', serial, yes } = flags
  if (drive !== undefined && flags.transport !== undefined) {
    // The driver that is bound determines the transport.
    throw new UsageError('--drive and --transport are mutually exclusive', { next: 'use --to to choose a driver' })
  }
  if (drive === undefined) {
    const option = (['to', 'serial', 'yes'] as const).find((name) => flags[name] !== undefined)
    if (option !== undefined) throw new UsageError(`--${option} requires --drive`, { next: `omit --${option}` })
    if (['sysfs', 'vfio', 'kmod'].includes(transport))
      throw new UsageError(`--transport ${transport} requires --drive`, { next: '--drive 0000:0b:00.0' })
  }
  if (yes === true && serial === undefined)
    throw new UsageError('--yes requires --serial', { next: 'pass the serial number of the drive to --serial' })
}

function describeEnd({ steps }: FirstLightReport): string {
  const count = (wanted: Outcome) => steps.filter(({ outcome }) => outcome === wanted).length
  return `${plural(count('passed'), 'step')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}

/** A simulated drive without a GPU shows nothing that tests do not. */
function isWorthSending({ drive, steps }: FirstLightReport): boolean {
  return drive.simulated !== true || steps.some(({ machine }) => machine?.gpu != null)
}
