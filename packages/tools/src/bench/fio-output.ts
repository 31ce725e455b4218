import type { BenchRepeat } from '../report/bench-results.js'
import { list, number, object, text, UnfitValueError, whole, type Check } from '../report/checked-json.js'
import { LatencyHistogram } from './latency-histogram.js'
import { ToolsError } from '../command-line/tools-error.js'

const MAX_BINS = 100_000
const percent = number(0)

/** `clat_ns.bins` of fio's json+: counts by latency in ns. */
const bins: Check<[ns: number, count: number][]> = (value, at) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UnfitValueError(at, 'an object', value)
  const entries = Object.entries(value)
  if (entries.length > MAX_BINS) throw new UnfitValueError(at, `at most ${MAX_BINS} bins`, `${entries.length}`)
  return entries.map(([ns, count]) => [number(0)(Number(ns), `${at} (a bin)`), whole(0)(count, `${at}.${ns}`)])
}

const output = object({
  jobs: list(
    object({
      error: whole(0),
      job_runtime: number(0),
      usr_cpu: percent,
      sys_cpu: percent,
      read: object({
        io_bytes: whole(0),
        total_ios: whole(0),
        runtime: number(0),
        clat_ns: object({ min: number(0), max: number(0) }, { bins }),
      }),
    }),
    1,
  ),
  'fio version': text(100),
})

/** Parses fio's json+ output, with all jobs as one group, into a repeat. @throws FioOutputError */
export function repeatOfFio(json: string): BenchRepeat {
  const { jobs } = parsed(json)
  const [job] = jobs
  if (job === undefined) throw new FioOutputError('it lists no job')
  if (job.error !== 0) throw new FioOutputError(`its job ended with error ${job.error}`)
  const { io_bytes: bytes, total_ios: commands, runtime, clat_ns } = job.read
  if (!(runtime > 0)) throw new FioOutputError('its run time is zero')
  const histogram = new LatencyHistogram()
  for (const [ns, count] of clat_ns.bins ?? []) histogram.add(ns, count)
  const buckets = histogram.latency()?.buckets
  return {
    bytes,
    commands,
    // fio counts milliseconds; job_runtime adds up the times of several jobs.
    seconds: runtime / 1000,
    cpuSeconds: (((job.usr_cpu + job.sys_cpu) / 100) * job.job_runtime) / 1000,
    ...(buckets !== undefined && { latency: { minNs: clat_ns.min, maxNs: clat_ns.max, buckets } }),
  }
}

function parsed(json: string) {
  try {
    return output(JSON.parse(json), '')
  } catch (error) {
    if (error instanceof UnfitValueError || error instanceof SyntaxError) throw new FioOutputError(error.message)
    throw error
  }
}

/** Error of fio output in an unexpected form. */
export class FioOutputError extends ToolsError {
  constructor(problem: string) {
    super('ERR_GPUNVME_FIO_OUTPUT', 'failure', `Cannot use the output of fio: ${problem}`, {
      next: 'install fio 3.0 or later; fio --version prints the version',
    })
  }
}
