import { plural } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Error of data that end inside a block, whose rest is undefined. */
export class PartialBlockError extends ToolsError {
  readonly code = 'ERR_GPUNVME_PARTIAL_BLOCK'
  readonly category = 'usage'
  constructor(name: string, lastBytes: number, blockBytes: number) {
    super(`${name} ends inside a block: the last one has ${plural(lastBytes, 'byte')} of ${blockBytes}`, {
      next: 'fill it with zeros by --pad zero, or use a --length of whole blocks',
    })
  }
}
