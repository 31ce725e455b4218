import { ToolsError, type ToolsErrorDetails } from './tools-error.js'

/** Error of invalid arguments. Nothing was opened or changed. */
export class UsageError extends ToolsError {
  constructor(headline: string, details?: ToolsErrorDetails) {
    super('ERR_GPUNVME_USAGE', 'usage', headline, details)
  }
}
