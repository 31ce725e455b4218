import type { SmartLog } from '@gpunvme/host-driver'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { BenchRepeat, BenchSource } from '../report/bench-results.js'
import type { BaselineKind } from './baselines.js'
import { reasonOf } from './error-reason.js'
import { RefusedError, type Contender, type Measured } from './contender.js'
import { FioOutputError, repeatOfFio } from './fio-output.js'
import { FioError, runFio, type FioJob } from './fio.js'
import type { Setting } from './setting.js'
import { inFlight, type Shape } from './shape.js'
import { healthOf } from './smart.js'
import { problemOf } from './verdict.js'

/** More threads would measure the scheduler. */
const MAX_THREADS = 1024

export interface BaselineContenderOptions {
  readonly kind: BaselineKind
  /** A file, or a block device. */
  readonly path: string
  readonly blockBytes: number
  readonly setting: Setting
  readonly link: Link | undefined
  /** Reads the drive's SMART log; absent if it is not available. */
  readonly smartLog?: (() => Promise<SmartLog>) | undefined
}

/** A kernel I/O path to the same bytes, measured by fio. It only reads. */
export class BaselineContender implements Contender {
  readonly source: BenchSource
  private readonly options: BaselineContenderOptions

  constructor(options: BaselineContenderOptions) {
    this.options = options
    this.source = options.kind.source
  }

  async measure(shape: Shape): Promise<Measured> {
    const { kind, path, blockBytes, setting, link, smartLog } = this.options
    const { seconds, warmUpSeconds, span, seed, signal } = setting
    const threads = kind.isSynchronous ? inFlight(shape) : shape.jobs
    this.requireFit(shape, threads)
    const before = await smartLog?.()
    const measured = await this.measured(
      {
        path,
        engine: kind.fioEngine,
        engineOptions: kind.engineOptions,
        rw: shape.pattern === 'random' ? 'randread' : 'read',
        blockBytes: shape.blockBytes,
        depth: kind.isSynchronous ? 1 : shape.depth,
        threads,
        firstByte: span.firstBlock * blockBytes,
        lengthBytes: span.blocks * blockBytes,
        shared: shape.pattern === 'random',
        seconds,
        warmUpSeconds,
        seed,
      },
      signal,
    )
    const after = await smartLog?.()
    const repeat = {
      ...measured,
      ...(before !== undefined && after !== undefined && healthOf(before, after)),
    }
    // The kernel splits and merges commands, and the drive's counters include the warm-up: only bytes are comparable.
    const evidence = { sentCommands: undefined, engineCommands: undefined, wrongBytes: undefined }
    const problem = problemOf(repeat, evidence, shape.rw, link)
    return { repeat: problem === undefined ? repeat : { ...repeat, problem }, remarks: [] }
  }

  /** A failure of fio does not end the other measurements. */
  private async measured(job: FioJob, signal: AbortSignal): Promise<BenchRepeat> {
    try {
      return repeatOfFio(await runFio(job, signal))
    } catch (error) {
      if (!(error instanceof FioError || error instanceof FioOutputError)) throw error
      throw new RefusedError(reasonOf(error))
    }
  }

  private requireFit({ rw, blockBytes, jobs }: Shape, threads: number): void {
    const { span } = this.options.setting
    if (rw !== 'read') {
      throw new RefusedError({ reason: 'baselines only read: only our driver has a write guard' })
    }
    if (threads > MAX_THREADS) {
      throw new RefusedError({
        reason: `it requires ${threads} threads`,
        next: `lower --qd, so that --qd times --numjobs ${jobs} is at most ${MAX_THREADS}`,
      })
    }
    if (span.blocks * this.options.blockBytes < threads * blockBytes) {
      throw new RefusedError({ reason: 'the area is smaller than one command per thread', next: 'raise --size' })
    }
  }
}
