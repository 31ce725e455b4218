import { plural } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Error of data that end inside a block, whose rest is undefined. */
export function partialBlockError(name: string, lastBytes: number, blockBytes: number): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_PARTIAL_BLOCK',
    'usage',
    `${name} ends inside a block: the last one has ${plural(lastBytes, 'byte')} of ${blockBytes}`,
    {
      next: 'fill it with zeros by --pad zero, or use a --length of whole blocks',
    },
  )
}
