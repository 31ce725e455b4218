import { resolve } from 'node:path'
import { sameFile } from '../block-io/same-file.js'
import { WholeFile } from '../block-io/whole-file.js'
import { UsageError } from '../command-line/tools-error.js'
import type { BenchResults } from '../report/bench-results.js'

/** An output file, and the results to write to it. */
export interface Wanted {
  readonly path: string | undefined
  readonly format: (results: BenchResults) => string
}

/**
 * Runs `use`, and writes its results to the requested files atomically. The files are created first, so that an
 * unwritable path fails before the measurement.
 * @param sources measured files and input files, which no result may overwrite.
 * @throws UsageError for duplicate paths, and for one of `sources`; errors of `WholeFile` and `use`. Then no file
 * remains.
 */
export async function withResultFiles(
  wanted: readonly Wanted[],
  use: () => Promise<BenchResults>,
  sources: readonly string[] = [],
): Promise<BenchResults> {
  const paths = wanted.flatMap(({ path }) => path ?? []).map((path) => resolve(path))
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice !== undefined)
    throw new UsageError(`Two results have the same path, ${twice}`, { next: 'use different paths' })
  const lost = paths.find((path) => sources.some((source) => sameFile(path, source)))
  if (lost !== undefined) {
    throw new UsageError(`${lost} is measured or read, and would be overwritten by results`, {
      next: 'use another path for the results',
    })
  }
  const files: { readonly file: WholeFile; readonly format: Wanted['format'] }[] = []
  try {
    for (const { path, format } of wanted) if (path !== undefined) files.push({ file: new WholeFile(path), format })
    const results = await use()
    for (const { file, format } of files) {
      await file.write(Buffer.from(format(results)))
      file.publish()
    }
    return results
  } finally {
    for (const { file } of files) file.discard()
  }
}
