import { GpuNvmeError, type ErrorCategory, type ErrorDetails } from '@gpunvme/nvme-spec/error'

/** Why Linux' answer cannot be used, and what helps. Each becomes the code `ERR_GPUNVME_CAPTURE_<PROBLEM>`. */
const CAPTURE_PROBLEMS = {
  NOT_A_FILE: ['usage', 'name a regular file'],
  MOUNT: ['infeasible', 'copy the file to an ext4 or XFS that is mounted from a partition of the drive itself'],
  STACKED: ['infeasible', 'copy the file to a partition of the drive itself: what is between moves its bytes'],
  NOT_IN_PLACE: ['infeasible', 'copy the file: cp --reflink=never --sparse=never makes plain runs of it'],
  HOLE: ['infeasible', 'copy the file without holes: cp --sparse=never'],
  PIECES: ['infeasible', 'copy the file to where there is more room in one piece'],
  CHANGED: ['failure', 'wait until no process writes to the file, then capture it again'],
  ANSWER: ['failure', 'copy the file to an ext4 or XFS, and say which kernel and file system this is'],
} as const satisfies Record<string, readonly [ErrorCategory, string]>

export type CaptureProblem = keyof typeof CAPTURE_PROBLEMS

/** It cannot be said where on a drive the bytes of a file are. `code` says why. */
export class CaptureError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_CAPTURE_${CaptureProblem}`
  readonly category: ErrorCategory
  readonly path: string

  constructor(problem: CaptureProblem, path: string, headline: string, details: Omit<ErrorDetails, 'next'> = {}) {
    const [category, next] = CAPTURE_PROBLEMS[problem]
    super(`Cannot tell where ${path} is on its drive: ${headline}`, { ...details, next })
    this.code = `ERR_GPUNVME_CAPTURE_${problem}`
    this.category = category
    this.path = path
  }
}
