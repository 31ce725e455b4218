import { resolve } from 'node:path'
import { sameFile } from '../block-io/same-file.js'
import { WholeFile } from '../block-io/whole-file.js'
import { UsageError } from '../command-line/usage-error.js'
import type { BenchResults } from '../report/bench-results.js'

/** A file that the results go to, and what of them. */
export interface Wanted {
  readonly path: string | undefined
  readonly format: (results: BenchResults) => string
}

/**
 * Runs `use`, and writes its results to the files that are wanted: each is there whole or not at all. They are made
 * first, so that a place that cannot be written to is known before an hour was spent on measuring.
 * @param sources files that are measured or read: no result may take their place.
 * @throws UsageError for the same file twice, and for one of `sources`; as `WholeFile` and `use`. Nothing is left then.
 */
export async function withResultFiles(
  wanted: readonly Wanted[],
  use: () => Promise<BenchResults>,
  sources: readonly string[] = [],
): Promise<BenchResults> {
  const paths = wanted.flatMap(({ path }) => path ?? []).map((path) => resolve(path))
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice !== undefined) throw new UsageError(`Two results are to go to ${twice}`, { next: 'a name for each' })
  const lost = paths.find((path) => sources.some((source) => sameFile(path, source)))
  if (lost !== undefined) {
    throw new UsageError(`${lost} is what is measured or read, and would be replaced by results`, {
      next: 'another name for the results',
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
