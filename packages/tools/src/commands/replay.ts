import type { Namespace } from '@gpunvme/host-driver'
import { lbas } from '../block-io/byte-range.js'
import { refuseProtected } from '../block-io/protected-data.js'
import { EXIT } from '../command-line/exit-codes.js'
import { addTransportOptions, whole, type TransportFlags } from '../command-line/options.js'
import { verb, type Context } from '../command-line/verb.js'
import { addWriteOptions } from '../command-line/write-options.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { withReader, withTransport, withWriter, type Drive, type WriteFlags } from '../drive/with-drive.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { Progress } from '../terminal/progress.js'
import { formatTable } from '../terminal/table.js'
import { formatDuration, plural } from '../terminal/units.js'
import { checkTraceFile, requireUnchanged } from '../tracing/read-trace.js'
import type { ReplayTally } from '../tracing/replay-tally.js'
import { replayTrace } from '../tracing/replay-trace.js'
import type { ReplayTarget } from '../tracing/replayable.js'
import { scanTrace, type TraceScan } from '../tracing/scan-trace.js'

interface Flags extends TransportFlags, WriteFlags, OutputOptions {
  readonly allowWrites?: boolean
  readonly opened: number
}

export const replay = verb({
  options(command) {
    command
      .argument('<trace>', 'output of gpunvme nvme trace --format jsonl')
      .option('--allow-writes', 'replay writes and flushes too; writes have a pattern, since traces hold no data')
      .addOption(whole('--opened <n>', 'n-th drive opened in the trace', 1, 999_999_999).default(1))
    addWriteOptions(command)
    addTransportOptions(command, 'drive image to replay on')
  },
  about: `
Resends the commands of a trace, each once those that had completed before it
have completed again, and compares outcomes and times. Exit code 6 if an outcome
differs, 7 if no command could be sent.

Reads go to the same blocks of one namespace. Writes and flushes are sent only
with --allow-writes, after the checks of gpunvme nvme write. Commands that a
trace cannot repeat are counted and left out: Admin commands, Copy, Dataset
Management, vendor commands, and those of other namespaces or beyond the end of
this one. The whole file is checked before the first command is sent.`,
  examples: ['gpunvme nvme replay t.jsonl --image drive.img', 'gpunvme nvme replay t.jsonl --profile 990pro --json'],
  run,
})

async function run(path: string, flags: Flags, { output, session, signal }: Context): Promise<void> {
  const { allowWrites = false, opened: number } = flags
  const stamp = await checkTraceFile(path)
  const drive = number === 1 ? '' : `${number}: `
  const scan = await scanTrace(path, drive, signal)
  await withTransport(flags, allowWrites ? 'write' : 'read', output, async (opened) => {
    signal.throwIfAborted()
    const use = async ({ controller, namespace }: Drive) => {
      const { blocks, blockBytes, maxTransferBytes } = namespace
      const { nsid, writtenFrom, writtenTo } = scan
      const target = { nsid, blocks, blockBytes, maxTransferBytes, allowWrites, writtenFrom, writtenTo }
      if (allowWrites) await guardWrites(namespace, scan, flags, signal)
      await requireUnchanged(path, stamp)
      const depth = controller.queues * controller.queueDepth
      const tally = await perform(path, namespace, { drive, target, depth, blocks: scan.blocks }, output, signal)
      report(path, tally, scan, opened, output)
      if (tally.different > 0) session.exitCode = EXIT.verification
      else if (tally.sent === 0) session.exitCode = EXIT.infeasible
    }
    return allowWrites ? withWriter(opened, flags, output, use, signal) : withReader(opened, flags, use)
  })
}

/** Checks all writes at once: a rejection half way would leave partial changes. */
async function guardWrites(namespace: Namespace, scan: TraceScan, flags: Flags, signal: AbortSignal): Promise<void> {
  if (scan.writes === 0) return
  const { blockBytes, blocks } = namespace
  // Commands beyond the end are not sent.
  const lengthBlocks = Math.min(scan.writtenTo, blocks) - scan.writtenFrom
  if (lengthBlocks <= 0) return
  const range = { offsetBytes: scan.writtenFrom * blockBytes, lengthBytes: lengthBlocks * blockBytes }
  await refuseProtected(namespace, range, flags.overwrite ?? [], flags.image !== undefined, signal)
}

interface Course {
  readonly drive: string
  readonly target: ReplayTarget
  readonly depth: number
  readonly blocks: number
}

async function perform(
  path: string,
  namespace: Namespace,
  { blocks, ...course }: Course,
  output: Output,
  signal: AbortSignal,
): Promise<ReplayTally> {
  const { blockBytes } = namespace
  const progress = new Progress(output, 'Replaying')
  try {
    const onProgress = (done: number) => progress.update(done * blockBytes, blocks * blockBytes)
    return await replayTrace(path, namespace, { ...course, signal, onProgress })
  } finally {
    progress.end()
  }
}

function report(path: string, tally: ReplayTally, scan: TraceScan, opened: OpenedTransport, output: Output): void {
  const { time } = opened
  const traceTime = scan.time ?? 'unknown'
  output.print(`Replayed ${tally.sent} of ${plural(scan.commands, 'command')} of ${printable(path)}`)
  if (tally.sent > 0) output.print('', describeNames(tally, traceTime, time))
  if (tally.skipped.size > 0) output.print('', 'Not replayed:', describeSkipped(tally))
  if (tally.different > 0) output.print('', `Different outcome: ${tally.different}`, describeDifferences(tally))
  if (tally.sent === 0) output.note('No command was sent.')
  if (tally.sent > 0 && traceTime !== time) {
    output.note(`Do not compare the times: those of the trace are ${traceTime}, those of this drive ${time}.`)
  }
  output.driveObject('gpunvme.replay/1', {
    trace: path,
    time: { trace: traceTime, replay: time },
    commands: { inTrace: scan.commands, replayed: tally.sent, different: tally.different },
    names: Object.fromEntries(
      [...tally.names].map(([name, { same, different, unanswered, trace, replay }]) => [
        name,
        { same, different, unanswered, trace: trace.summary(), replay: replay.summary() },
      ]),
    ),
    notReplayed: Object.fromEntries(tally.skipped),
    differences: tally.differences,
  })
}

function describeNames({ names }: ReplayTally, traceTime: string, time: string): string[] {
  const rows = [...names].flatMap(([name, { same, different, unanswered, trace, replay }]) =>
    (
      [
        [`in the trace, ${traceTime}`, trace.summary()],
        [`here, ${time}`, replay.summary()],
      ] as const
    ).map(([where, { count, meanNs, p50Ns, p99Ns, maxNs }], index) => [
      index === 0 ? name : '',
      index === 0 ? `${same} of ${same + different + unanswered}` : '',
      where,
      ...(count === 0 ? [] : [meanNs, p50Ns, p99Ns, maxNs].map(formatDuration)),
    ]),
  )
  const right = (title: string) => ({ title, align: 'right' }) as const
  const columns = [{ title: 'COMMAND' }, right('SAME'), { title: 'TIMES' }, ...['MEAN', 'P50', 'P99', 'MAX'].map(right)]
  return formatTable(columns, rows)
}

function describeSkipped({ skipped }: ReplayTally): string[] {
  return [...skipped].map(([reason, count]) => `  ${String(count).padStart(6)}  ${printable(reason)}`)
}

function describeDifferences({ differences }: ReplayTally): string[] {
  return differences.flatMap(({ line, command: { name, slba, blocks }, trace, replay }) => [
    `  line ${line}: ${name}${blocks === 0 ? '' : ` ${lbas(slba, blocks)}`}`,
    `    in the trace  ${printable(trace)}`,
    `    here          ${replay}`,
  ])
}
