import { Option } from 'commander'
import { linuxDrive } from '../admin/with-admin-view.js'
import { benchBaselines } from '../bench/baseline-bench.js'
import { BASELINES } from '../bench/baselines.js'
import type { BenchFlags } from '../bench/bench-flags.js'
import { benchEngines } from '../bench/engine-bench.js'
import { fileTarget } from '../bench/file-drive.js'
import { benchHandedOver } from '../bench/handed-bench.js'
import { withKernelDrive } from '../bench/kernel-drive.js'
import { mergeResults } from '../bench/merge.js'
import { BenchReporter } from '../bench/reporter.js'
import { withResultFiles } from '../bench/result-files.js'
import { failedCells, withSummaries } from '../bench/results.js'
import type { Title } from '../bench/run-bench.js'
import { sameShape } from '../bench/shape.js'
import { shownCommand } from '../bench/shown-command.js'
import { counts, dataPattern, RW_WORDS, seconds, sizes, words } from '../bench/sweep-options.js'
import { readText } from '../command-line/bounded-input.js'
import type { NextStep } from '../command-line/next-step.js'
import { EXIT } from '../command-line/exit-codes.js'
import { addDriveOptions, size, whole } from '../command-line/options.js'
import { version } from '../command-line/program.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { addWriteOptions } from '../command-line/write-options.js'
import { nameLinuxDrive } from '../drive/named-drive.js'
import type { Session } from '../command-line/session.js'
import { BENCH_SCHEMA, type BenchResults } from '../report/bench-results.js'
import { formatCsv } from '../report/csv.js'
import { formatHtml } from '../report/html/page.js'
import { formatMarkdown } from '../report/markdown.js'
import { readResults } from '../report/read-results.js'
import { Output } from '../terminal/output.js'
import { plural } from '../terminal/units.js'

const KIB = 1024
/** Maximum length of a results file. A measurement takes a few KiB. */
const MAX_RESULTS_BYTES = 256 * KIB * KIB
const RESULTS: NextStep = { words: ['results that ', { command: ['bench', '--json'] }, ' printed'] }

interface Flags extends BenchFlags {
  readonly output?: string
  readonly csv?: string
  readonly report?: string
  readonly merge?: readonly string[]
  readonly handOver?: boolean
}

const ABOUT = `
Read-only unless --rw includes writes, which destroy data between --offset and
--offset + --size and are refused on drives with known data, models included. A
real drive requires its serial number. Opening a drive with gpunvme resets it.

Measurement: commands of --bs bytes, --qd in flight in each of --numjobs queue
pairs, from empty queues to the last completion. Sources are interleaved and
rotate their order. Intervals are 95 % by Student's t over all repeats; outliers
(modified z-score above 3.5) are marked and included. A simulated drive is
measured in modelled time, or in real time with --real-time.

Checks of each repeat: the engine executed what it reports; SMART counts the
commands (within 1 %) and data units (within 1 % and 2 units) that were sent;
the bytes of a sample equal a second read by the host; no rate exceeds the
link's limit. A repeat that fails has no rate, and the exit code is 6.

Baselines: fio on Linux's driver, while that driver has the drive. --hand-over
alternates between the drivers and returns the drive at the end, after a crash
too. Or measure in two halves. As root:
  # gpunvme bench --drive nvme1 --hand-over --report both.html
  # gpunvme bench --drive nvme1 -o linux.json
  # gpunvme bind nvme1 -- gpunvme bench --drive nvme1 -o ours.json
  # gpunvme bench --merge linux.json ours.json --report both.html

Short runs flatter drives that are cold or have a cache to fill: use --time 60
for sustained rates.`

export const bench = verb({
  options(command) {
    command
      .addOption(sizes('--bs <sizes>', 'sizes of a command: 4KiB,128KiB').default([128 * KIB], '128KiB'))
      .addOption(counts('--qd <depths>', 'commands in flight per job: 1,32', 4095).default([32], '32'))
      .addOption(words('--rw <kinds>', 'read, randread, write, randwrite', RW_WORDS).default(['read'], 'read'))
      .addOption(counts('--numjobs <counts>', 'jobs, each with its own queue pair', 64).default([1], '1'))
      .addOption(
        dataPattern('--pattern <bytes>', "data to write: 'random', or bytes such as 0x00").default('random', 'random'),
      )
      .addOption(seconds('--time <seconds>', 'duration of a repeat (default: 5, simulated 0.05)', 0.001))
      .addOption(seconds('--warm-up <seconds>', 'warm-up before each repeat (default: 1, simulated 0.005)', 0))
      .addOption(seconds('--cool-down <seconds>', 'pause between repeats', 0).default(1))
      .addOption(whole('--repeats <n>', 'repeats of each setting by each source, interleaved', 1, 100).default(5))
      .addOption(size('--offset <size>', 'start of the area on the namespace').default(0, '0'))
      .addOption(size('--size <size>', 'length of the area (default: the rest; for writes 1 GiB)'))
      .addOption(
        words('--engines <names>', 'our engines: host, cpu-kernel, cuda (default: all that the transport allows)', [
          'host',
          'cpu-kernel',
          'cuda',
        ]),
      )
      .addOption(
        words(
          '--baselines <names>',
          'paths to compare with: pread, io_uring, cufile (default: all, if Linux has the drive)',
          BASELINES,
        ),
      )
      .addOption(new Option('--file <file>', 'only baselines, on a file instead of a drive'))
      .option('--hand-over', 'alternate engines and baselines on a drive, with bind and unbind between them')
      .option('--timeline', 'record some single commands of the last setting')
      .option('--merge <files...>', 'do not measure: join results of two runs on the same drive')
      .option('-o, --output <file>', 'write the results as JSON, for gpunvme bench report and --merge')
      .option('--csv <file>', 'write a table with a row per repeat')
      .option('--report <file>', 'write an HTML report')
      .option('--markdown', 'print a summary in Markdown instead of a table')
    addDriveOptions(command, 'drive image of the simulated drive (default: empty)')
    addWriteOptions(command)
  },
  about: ABOUT,
  examples: [
    'gpunvme bench --sim',
    'gpunvme bench --sim --bs 4KiB,128KiB --qd 1,32 --rw randread --repeats 3',
    'gpunvme bench --sim --rw randwrite --bs 4KiB --repeats 3 --json',
    'gpunvme bench --profile 990pro --repeats 4 -o bench.json --report bench.html',
  ],
  run,
})

async function run(flags: Flags, { output, session }: Context): Promise<void> {
  if (flags.markdown === true && output.json) {
    throw new UsageError('--markdown and --json are mutually exclusive', { next: 'omit one of them' })
  }
  const title = { version: version(), command: shownCommand(session.argv) }
  const wanted = [
    { path: flags.output, format: asJson },
    { path: flags.csv, format: formatCsv },
    { path: flags.report, format: formatHtml },
  ]
  const { image, file, merge: merged = [] } = flags
  const sources = [image, file, ...merged].filter((path) => path !== undefined)
  const use = () =>
    flags.merge === undefined ? measure(flags, title, output, session) : merge(flags.merge, flags, output)
  const results = await withResultFiles(wanted, use, sources)
  output.driveObject(BENCH_SCHEMA, withSummaries(results))
  if (flags.markdown === true) output.verbatim(formatMarkdown(results).trimEnd())
  for (const { path } of wanted) if (path !== undefined) output.note(`Wrote ${path}`)
  const failed = failedCells(results)
  if (failed.length > 0) {
    output.error(`${plural(failed.length, 'cell')} of ${results.cells.length} failed the checks: see REJECTED`)
    session.exitCode = EXIT.verification
  }
}

async function measure(flags: Flags, title: Title, output: Output, session: Session): Promise<BenchResults> {
  const { signal } = session
  const { file } = flags
  if (file !== undefined) return benchBaselines(await fileTarget(file), flags, title, output, signal)
  const found = linuxDrive(flags)
  if (found !== undefined) output.nameDrive(nameLinuxDrive(found, '/'))
  if (flags.handOver === true) {
    if (found === undefined)
      throw new UsageError("--hand-over requires a --drive that is bound to Linux's driver", {
        next: { command: ['list'] },
      })
    return requireMeasured(await benchHandedOver(found, flags, title, output, session))
  }
  if (found === undefined) return requireMeasured(await benchEngines(flags, title, output, signal))
  return requireMeasured(
    await withKernelDrive(found, flags.nsid, (target) => benchBaselines(target, flags, title, output, signal)),
  )
}

async function merge(paths: readonly string[], { markdown }: Flags, output: Output): Promise<BenchResults> {
  const [first, second, ...more] = await Promise.all(
    paths.map(async (path) => readResults(await readText('the results', path, MAX_RESULTS_BYTES, RESULTS), path)),
  )
  if (first === undefined || second === undefined || more.length > 0) {
    throw new UsageError('--merge requires two files', { next: 'use --merge linux.json ours.json' })
  }
  const results = mergeResults(first, second)
  const reporter = new BenchReporter(output, { repeats: results.method.repeats, markdown }, results)
  const shapes = results.cells.filter((cell, index, all) => all.findIndex((each) => sameShape(each, cell)) === index)
  for (const shape of shapes) {
    reporter.onCells(
      shape,
      results.cells.filter((cell) => sameShape(cell, shape)),
    )
  }
  reporter.end(results.notes)
  return results
}

function asJson(results: BenchResults): string {
  return `${JSON.stringify(withSummaries(results), null, 2)}\n`
}

/** @throws ToolsError (NOTHING_MEASURED) if no source could run: such results would be useless. */
function requireMeasured(results: BenchResults): BenchResults {
  if (results.cells.some(({ repeats }) => repeats.length > 0)) return results
  throw nothingMeasuredError(results)
}

/** Error of a benchmark in which no source could run. */
function nothingMeasuredError({ sources, cells }: Pick<BenchResults, 'sources' | 'cells'>): ToolsError {
  const missing = sources.flatMap(({ name, missing: why }) => (why === undefined ? [] : [{ name, ...why }]))
  const refused = cells.flatMap(({ source, problem }) => (problem === undefined ? [] : [{ name: source, ...problem }]))
  const all = [...missing, ...refused]
  const [first, ...others] = new Set(all.flatMap(({ next }) => (next === undefined ? [] : [next])))
  return new ToolsError('ERR_GPUNVME_NOTHING_MEASURED', 'infeasible', 'Nothing could be measured', {
    facts: [...new Set(all.map(({ name, reason }) => `${name}: ${reason}`))],
    next:
      first !== undefined && others.length === 0
        ? first
        : { command: ['bench'], note: 'which, without --engines and --baselines, measures all available sources' },
  })
}
