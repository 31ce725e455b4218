import { FaultPlanError, parseFaultPlan } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { readText } from '../command-line/bounded-input.js'
import type { CommandStep } from '../command-line/next-step.js'
import { printable } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'

const HELP: CommandStep = { command: ['help', 'sim'], note: 'which shows an example plan' }

/** Maximum length of a plan. A rule takes about 100 bytes. */
const MAX_BYTES = 16 * 1024 * 1024

/** Reads a plan in the format of `formatFaultPlan`. @throws FileError, FaultPlanFileError; UsageError if it is too long. */
export async function readFaultPlan(path: string): Promise<FaultPlan> {
  const text = await readText('the fault plan', path, MAX_BYTES, HELP)
  try {
    return parseFaultPlan(text)
  } catch (error) {
    throw error instanceof FaultPlanError ? new FaultPlanFileError(path, error) : error
  }
}

/** Error of a file that is not a valid fault plan. */
export class FaultPlanFileError extends ToolsError {
  constructor(path: string, cause: FaultPlanError) {
    super('ERR_GPUNVME_FAULT_PLAN', 'usage', `${printable(path)}: ${cause.headline}`, {
      facts: cause.facts,
      next: cause.next === undefined ? HELP : [cause.next, HELP],
      cause,
    })
  }
}
