import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { tiers } from '../scripts/tiers.mjs'

const root = join(import.meta.dirname, '..')
const first = tiers['first']!

/**
 * Starts the files of the list `first` before all others, so that no worker runs a long file alone at the end. vitest
 * knows the duration of a file only after a run, and a fresh clone has none.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => {
      const index = first.indexOf(relative(root, moduleId))
      return index < 0 ? first.length : index
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}
