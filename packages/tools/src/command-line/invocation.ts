import { relative } from 'node:path'

/** How this program is called from here: through npx where it belongs to the project around the working directory. */
export function invocation(): string {
  const path = relative(process.cwd(), process.argv[1] ?? '')
  return path.startsWith('..') ? 'gpunvme' : 'npx gpunvme'
}
