import type { OverdueCommand } from '../queues/overdue.js'
import type { Job } from './job.js'

/**
 * A command that was given up while other commands of the engine are in flight. Its completion is reported to its plan.
 */
export class LateCompletion implements OverdueCommand {
  readonly qid: number
  readonly cid: number
  private readonly job: Job
  private readonly command: number

  constructor(job: Job, command: number, qid: number, cid: number) {
    this.job = job
    this.command = command
    this.qid = qid
    this.cid = cid
  }

  set completion({ status }: { readonly status: number; readonly dw0: number }) {
    this.job.completedLate(this.command, this.qid, this.cid, status)
  }
}
