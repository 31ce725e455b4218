import { parseFaultPlan } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { readFile } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import { printable } from '../terminal/printable.js'

/** The plan in a file, as `formatFaultPlan` writes it. @throws FileError, FaultPlanError */
export async function readFaultPlan(path: string): Promise<FaultPlan> {
  return parseFaultPlan(await attempting(`read the fault plan ${printable(path)}`, () => readFile(path, 'utf8')))
}
