import { GpuNvmeError, type ErrorCategory, type ErrorDetails } from '@gpunvme/nvme-spec/error'

/** Reasons why Linux's answer is unusable, each with a remedy. The code is `ERR_GPUNVME_CAPTURE_<PROBLEM>`. */
const CAPTURE_PROBLEMS = {
  NOT_A_FILE: ['usage', 'name a regular file'],
  MOUNT: [
    'infeasible',
    'copy the file to an ext4 or XFS file system that is mounted directly from a partition of the drive',
  ],
  STACKED: ['infeasible', 'copy the file to a file system that is mounted directly from a partition of the drive'],
  NOT_IN_PLACE: ['infeasible', 'copy the file with cp --reflink=never --sparse=never, which writes plain extents'],
  HOLE: ['infeasible', 'copy the file without holes: cp --sparse=never'],
  PIECES: ['infeasible', 'copy the file to a file system with more contiguous free space'],
  CHANGED: ['failure', 'wait until no process writes to the file, then capture it again'],
  ANSWER: ['failure', 'copy the file to an ext4 or XFS file system, and report the kernel and file system'],
} as const satisfies Record<string, readonly [ErrorCategory, string]>

/** Codes of the reasons why a captured file cannot be read in place. */
export type CaptureProblem = keyof typeof CAPTURE_PROBLEMS

/** Error of a file whose location on the drive cannot be determined. `code` gives the reason. */
export class CaptureError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_CAPTURE_${CaptureProblem}`
  readonly category: ErrorCategory
  readonly path: string

  constructor(problem: CaptureProblem, path: string, headline: string, details: Omit<ErrorDetails, 'next'> = {}) {
    const [category, next] = CAPTURE_PROBLEMS[problem]
    super(`Cannot determine where ${path} is on its drive: ${headline}`, { ...details, next })
    this.code = `ERR_GPUNVME_CAPTURE_${problem}`
    this.category = category
    this.path = path
  }
}
