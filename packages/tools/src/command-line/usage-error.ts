import { ToolsError } from './tools-error.js'
/** Error of invalid arguments. Nothing was opened or changed. */
export class UsageError extends ToolsError {
  readonly code = 'ERR_GPUNVME_USAGE'
  readonly category = 'usage'
}
