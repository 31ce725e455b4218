import { Option, type Command } from 'commander'
import { createRequire } from 'node:module'
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
import { addDriveOptions, addOutputOptions, addWriteOptions, examples, size, whole } from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import { nameLinuxDrive } from '../drive/named-drive.js'
import type { Session } from '../program.js'
import { BENCH_SCHEMA, type BenchResults } from '../report/bench-results.js'
import { formatCsv, formatHtml, formatMarkdown, readResults } from '../report/index.js'
import { Output } from '../terminal/output.js'
import { plural } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'

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

export function bench(command: Command, session: Session): void {
  command
    .addOption(sizes('--bs <sizes>', 'bytes of a command: 4KiB,128KiB').default([128 * KIB], '128KiB'))
    .addOption(counts('--qd <depths>', 'commands in flight of each job: 1,32', 4095).default([32], '32'))
    .addOption(words('--rw <kinds>', 'read, randread, write, randwrite', RW_WORDS).default(['read'], 'read'))
    .addOption(counts('--numjobs <counts>', 'jobs, each with a queue pair of its own', 64).default([1], '1'))
    .addOption(
      dataPattern('--pattern <bytes>', "what writes carry: 'random', or bytes as 0x00").default('random', 'random'),
    )
    .addOption(seconds('--time <seconds>', 'of each repeat (default: 5, simulated 0.05)', 0.001))
    .addOption(seconds('--warm-up <seconds>', 'before each, not counted (default: 1, simulated 0.005)', 0))
    .addOption(seconds('--cool-down <seconds>', 'between two repeats', 0).default(1))
    .addOption(whole('--repeats <n>', 'of each setting by each source, in turns', 1, 100).default(5))
    .addOption(size('--offset <size>', 'where on the namespace to begin').default(0, '0'))
    .addOption(size('--size <size>', 'how much of it to touch (default: the rest; for writes 1 GiB)'))
    .addOption(
      words('--engines <names>', 'of ours: host, cpu-kernel, cuda (default: all that this transport can have)', [
        'host',
        'cpu-kernel',
        'cuda',
      ]),
    )
    .addOption(
      words(
        '--baselines <names>',
        'what to compare with: pread, io_uring, cufile (default: all, where Linux has the drive)',
        BASELINES,
      ),
    )
    .addOption(new Option('--file <file>', 'baselines alone, on a file instead of a drive'))
    .option('--hand-over', 'of a drive that Linux has: engines and baselines in turns, with bind and unbind between')
    .option('--timeline', 'write down some commands of the last setting one by one')
    .option('--merge <files...>', 'measure nothing: join the results of two runs on the same drive')
    .option('-o, --output <file>', 'the results as JSON, for gpunvme report and for --merge')
    .option('--csv <file>', 'every repeat as a row of a table')
    .option('--report <file>', 'the results as a page to read and print, in HTML')
    .option('--markdown', 'print a summary in Markdown instead of the table')
    .action((flags: Flags) => run(flags, new Output(flags, session.io), session))
  addDriveOptions(command, 'what the simulated drive holds (default: nothing)')
  addWriteOptions(command)
  addOutputOptions(command)
  command.addHelpText('after', ABOUT)
  examples(command, [
    'gpunvme bench --sim',
    'gpunvme bench --sim --bs 4KiB,128KiB --qd 1,32 --rw randread --repeats 3',
    'gpunvme bench --sim --rw randwrite --bs 4KiB --repeats 3 --json',
    'gpunvme bench --profile 990pro --repeats 4 -o bench.json --report bench.html',
  ])
}

const ABOUT = `
Reads only, unless --rw says write; then what lies in --offset and --size is
lost, and a drive that holds anything known, models included, is refused. Of a
real drive the serial number is asked for. Bringing our driver up resets it.

What is measured: commands of --bs bytes, --qd of them in flight in each of
--numjobs queue pairs, from empty queues to the last completion. All sources
have their first repeat before any has its second, and another begins each
time. The interval is that of Student's t at 95 %, over all repeats; outliers
are marked (a modified z-score above 3.5) and counted all the same. A simulated
drive is measured by its model's clock, or by the wall's with --real-time.

What is checked, of each repeat: that the engine has executed what it reports,
that SMART counts as many commands (1 %) and data units (1 %, and 2 units) as
were sent, that the bytes of a sample are what a second read by the host finds,
and that no rate is above what the link can carry. A repeat that fails is not
believed, no rate of it is shown, and the exit code is 6.

What baselines are: fio on Linux's own driver, which has to have the drive, as
nobody else can meanwhile. With --hand-over it is bound to our driver and given
back for each turn, at the end and after a crash too; or in two halves. As root:
  # gpunvme bench --drive nvme1 --hand-over --report both.html
  # gpunvme bench --drive nvme1 -o linux.json
  # gpunvme bind nvme1 -- gpunvme bench --drive nvme1 -o ours.json
  # gpunvme bench --merge linux.json ours.json --report both.html

A second is short: a drive that is cold, or has a cache to fill, is faster than
it stays. --time 60 tells.`

async function run(flags: Flags, output: Output, session: Session): Promise<void> {
  if (flags.markdown === true && output.json) {
    throw new UsageError('--markdown and --json are both for stdout', { next: 'one of them' })
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
  output.object(BENCH_SCHEMA, withSummaries(results))
  if (flags.markdown === true) output.print(formatMarkdown(results).trimEnd())
  for (const { path } of wanted) if (path !== undefined) output.note(`Wrote ${path}`)
  const failed = failedCells(results)
  if (failed.length > 0) {
    output.error(`${plural(failed.length, 'cell')} of ${results.cells.length} failed the checks: see NOT BELIEVED`)
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
      throw new UsageError('--hand-over needs a --drive that Linux has', { next: { command: ['list'] } })
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
    throw new UsageError('--merge takes two files', { next: '--merge linux.json ours.json' })
  }
  const results = mergeResults(first, second)
  const reporter = new BenchReporter(
    output,
    { repeats: results.method.repeats, markdown },
    results.sources,
    results.link,
  )
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

/** @throws NothingMeasuredError where nobody could run anything: a file of such results would be of no use. */
function requireMeasured(results: BenchResults): BenchResults {
  if (results.cells.some(({ repeats }) => repeats.length > 0)) return results
  throw new NothingMeasuredError(results)
}

function version(): string {
  const require = createRequire(import.meta.url)
  return (require('../../package.json') as { version: string }).version
}

/** Of all that was asked for, nothing could be run. */
export class NothingMeasuredError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NOTHING_MEASURED'
  readonly category = 'infeasible'
  constructor({ sources, cells }: Pick<BenchResults, 'sources' | 'cells'>) {
    const missing = sources.flatMap(({ name, missing: why }) => (why === undefined ? [] : [{ name, ...why }]))
    const refused = cells.flatMap(({ source, problem }) =>
      problem === undefined ? [] : [{ name: source, ...problem }],
    )
    const all = [...missing, ...refused]
    const [first, ...others] = new Set(all.flatMap(({ next }) => (next === undefined ? [] : [next])))
    super('Nothing could be measured', {
      facts: [...new Set(all.map(({ name, reason }) => `${name}: ${reason}`))],
      next:
        first !== undefined && others.length === 0
          ? first
          : { command: ['bench'], note: 'which, without --engines and --baselines, measures what there is' },
    })
  }
}
