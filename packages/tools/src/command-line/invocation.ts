import { relative } from 'node:path'
import type { Io } from '../terminal/io.js'

/** How this program is called from here: through npx where it belongs to the project around the working directory. */
export function invocation({ cwd, program }: Pick<Io, 'cwd' | 'program'>): string {
  const path = relative(cwd, program)
  return path.startsWith('..') ? 'gpunvme' : 'npx gpunvme'
}
