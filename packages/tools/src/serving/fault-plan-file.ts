import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { FaultPlanError, parseFaultPlan } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { readFile } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import { printable } from '../terminal/printable.js'

/** The plan in a file, as `formatFaultPlan` writes it. @throws FileError, FaultPlanFileError */
export async function readFaultPlan(path: string): Promise<FaultPlan> {
  const text = await attempting(`read the fault plan ${printable(path)}`, () => readFile(path, 'utf8'))
  try {
    return parseFaultPlan(text)
  } catch (error) {
    throw error instanceof FaultPlanError ? new FaultPlanFileError(path, error) : error
  }
}

/** What is in the file is no plan. */
export class FaultPlanFileError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FAULT_PLAN'
  readonly category = 'usage'
  constructor(path: string, cause: FaultPlanError) {
    super(`${printable(path)}: ${cause.message}`, { next: 'gpunvme help sim, which has a plan to begin with', cause })
  }
}
