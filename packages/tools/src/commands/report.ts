import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { withResultFiles } from '../bench/result-files.js'
import { attempting } from '../command-line/file-error.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import type { BenchResults } from '../report/bench-results.js'
import { findingsOf } from '../report/findings.js'
import { headlineOf, subjectOf } from '../report/headline.js'
import { formatCsv } from '../report/csv.js'
import { formatHtml } from '../report/html/page.js'
import { formatMarkdown } from '../report/markdown.js'
import { readResults } from '../report/read-results.js'
import { missingOf } from '../report/missing.js'
import type { InputStream } from '../terminal/io.js'
import type { OutputOptions } from '../terminal/output.js'
import { printableLine } from '../terminal/printable.js'

interface Flags extends OutputOptions {
  readonly output?: string
  readonly csv?: string
  readonly markdown?: boolean
}

/** Limit above the results of any run, to bound memory. */
const MAX_BYTES = 256 * 1024 * 1024

const ABOUT = `
The HTML page is self-contained and has no scripts. It contains a headline with
the comparison; throughput by block size, commands/s by queue depth, latency
distributions, CPU time and single commands, as far as measured; what could not
be measured and why; the method; and the results as JSON. Whiskers and ± are
95 % confidence intervals over all repeats.

No drive is accessed. An existing file is replaced atomically. Results that
failed the checks of gpunvme bench are named without a rate.

--csv writes a row per repeat. --markdown prints a summary for a pull request.`

export const report = verb({
  options(command) {
    command
      .argument('<results>', "output of gpunvme bench -o or --json; '-' for stdin")
      .option('-o, --output <file>', 'HTML page (default: RESULTS.html)')
      .option('--csv <file>', 'also write a table with a row per repeat')
      .option('--markdown', 'print a summary in Markdown; write a page only with -o')
  },
  about: ABOUT,
  examples: [
    'gpunvme bench report results.json',
    'gpunvme bench report results.json -o page.html --csv repeats.csv --json',
    'gpunvme bench report results.json --markdown',
  ],
  run,
})

async function run(path: string, flags: Flags, { output, signal }: Context): Promise<void> {
  if (flags.markdown === true && output.json)
    throw new UsageError('--markdown and --json are mutually exclusive', { next: 'omit one of them' })
  const html = flags.output ?? (flags.markdown === true ? undefined : besides(path))
  refuseSame([path, html, flags.csv])
  const results = readResults(await read(path, output.io.stdin, signal), path)
  const wanted = [
    { path: html, format: formatHtml },
    { path: flags.csv, format: formatCsv },
  ]
  await withResultFiles(wanted, () => Promise.resolve(results), [path])
  if (flags.markdown === true) output.verbatim(formatMarkdown(results).trimEnd())
  else output.print(inWords(results))
  output.object('gpunvme.report/1', summary(path, results, { html, csv: flags.csv }))
  for (const { path: written } of wanted) if (written !== undefined) output.note(`Wrote ${written}`)
}

/** Returns results.html for results.json. */
function besides(path: string): string {
  if (path === '-') throw new UsageError('-o is required for results from stdin', { next: 'use -o page.html' })
  return `${path.replace(/\.json$/i, '')}.html`
}

/** Rejects overwriting the input or another output. */
function refuseSame(paths: readonly (string | undefined)[]): void {
  const places = paths.flatMap((path) => (path === undefined || path === '-' ? [] : [resolve(path)]))
  const twice = places.find((place, index) => places.indexOf(place) !== index)
  if (twice !== undefined)
    throw new UsageError(`${twice} is used twice`, { next: 'use different files for results, page and table' })
}

async function read(path: string, stdin: InputStream, signal: AbortSignal): Promise<string> {
  const stream = path === '-' ? stdin : createReadStream(path)
  return attempting(`read ${path}`, async () => {
    const chunks: Buffer[] = []
    let lengthBytes = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      signal.throwIfAborted()
      lengthBytes += chunk.length
      if (lengthBytes > MAX_BYTES)
        throw new UsageError(`${path} is longer than 256 MiB`, {
          next: { words: ['a file that ', { command: ['bench', '-o', 'FILE'] }, ' wrote'] },
        })
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString()
  })
}

function inWords(results: BenchResults): string[] {
  const { claim, context, caveats } = headlineOf(results)
  const lines = [claim, ...context, ...caveats.map((caveat) => `Beware: ${caveat}`)]
  return lines.map((line) => printableLine(line))
}

function summary(path: string, results: BenchResults, files: { html: string | undefined; csv: string | undefined }) {
  const findings = findingsOf(results)
  const subject = subjectOf(findings)
  const { link, time, cells } = results
  return {
    results: path,
    files,
    time,
    headline: headlineOf(results),
    ...(subject !== undefined && {
      best: {
        source: subject.source.name,
        rw: subject.cell.rw,
        pattern: subject.cell.pattern,
        blockBytes: subject.cell.blockBytes,
        depth: subject.cell.depth,
        jobs: subject.cell.jobs,
        meanBytesPerSecond: subject.rate.mean,
        marginBytesPerSecond: subject.rate.marginOfError,
        ...(link !== undefined && { shareOfLimit: subject.rate.mean / link.payloadLimitBytesPerSecond }),
      },
    }),
    cells: cells.length,
    measuredCells: findings.length,
    missing: missingOf(results),
  }
}
