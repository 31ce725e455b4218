import { formatBytes, plural } from '../terminal/units.js'
import type { BenchResults } from './bench-results.js'
import { atSettingOf, bestOf, findingsOf, formatSetting, workloadTitle, type Finding } from './findings.js'
import { formatEstimate, formatQuantity, formatShare } from './quantities.js'
import { ratio, type Estimate } from './statistics.js'

/** What the run has shown, in sentences that stand on their own. */
export interface Headline {
  /** Who moved how much a second, in which setting, by whose clock. */
  readonly claim: string
  /** Against what: the link, and the best baseline at the same setting in the same run. */
  readonly context: readonly string[]
  /** What stands against believing all of it, worst first. */
  readonly doubts: readonly string[]
}

/** What the first sentence is about. Undefined where nothing was measured. */
export function subjectOf(findings: readonly Finding[]): Finding | undefined {
  const reads = findings.filter(({ cell }) => cell.rw === 'read')
  const candidates = reads.length > 0 ? reads : findings
  return candidates.length === 0 ? undefined : bestOf(candidates)
}

export function headlineOf(results: BenchResults): Headline {
  const findings = findingsOf(results)
  const subject = subjectOf(findings)
  const doubts = doubtsOf(results, findings)
  if (subject === undefined)
    return { claim: 'Nothing was measured: no cell of this run has a rate to show.', context: [], doubts }
  return { claim: claimOf(results, subject), context: contextOf(results, findings, subject), doubts }
}

function claimOf({ time, drive }: BenchResults, { source, cell, rate }: Finding): string {
  const doing = { read: 'reads', write: 'writes', mixed: 'reads and writes' }[cell.rw]
  const where = { read: 'from', write: 'to', mixed: 'on' }[cell.rw]
  const setting = `${workloadTitle(cell).toLowerCase()}, ${formatBytes(cell.blockBytes)} each, at queue depth ${cell.depth}`
  const claim = `${source.name} ${doing} ${formatEstimate('rate', rate)}`
  return time === 'modelled'
    ? `In modelled time, ${claim} ${where} ${simulated(drive.model)}: ${setting}.`
    : `${claim} ${where} ${drive.model}: ${setting}.`
}

/** The simulator's drives mostly say in their names that they are simulated. */
function simulated(model: string): string {
  return /^simulated\b/i.test(model) ? `a ${model}` : `a simulated ${model}`
}

function contextOf(results: BenchResults, findings: readonly Finding[], subject: Finding): string[] {
  const modelled =
    'The clock was that of the simulator: this is what its model of the drive predicts, not a measurement.'
  return [
    ...(results.time === 'modelled' ? [modelled] : []),
    shareOfLink(results, subject.rate),
    againstBaseline(results, findings, subject),
  ]
}

function shareOfLink({ link }: BenchResults, { mean }: Estimate): string {
  if (link === undefined) return 'The link of the drive is not known, so that there is no limit to compare this with.'
  const { gen, width, mps, payloadLimitBytesPerSecond: limit } = link
  return `That is ${formatShare(mean / limit)} of the ${formatQuantity('rate', limit)} of payload that its link carries at most (Gen${gen} x${width}, MPS ${mps}).`
}

function againstBaseline(results: BenchResults, findings: readonly Finding[], subject: Finding): string {
  const { sources } = results
  if (subject.source.kind === 'baseline') return 'No engine was measured; this is a baseline.'
  const beside = atSettingOf(findings, subject.cell).filter(({ source }) => source.kind === 'baseline')
  if (beside.length === 0) {
    const baselines = sources.filter(({ kind }) => kind === 'baseline').map(({ name }) => name)
    return baselines.length === 0
      ? 'No baseline was asked for, so that there is nothing to compare it with.'
      : `No baseline was measured at this setting (${baselines.join(', ')}: see what could not be measured).`
  }
  const other = bestOf(beside)
  const { source, rate } = other
  const found = ratio(subject.rate, rate)
  const names = [source.name, subject.source.name]
  const together = results.runs?.some((run) => names.every((name) => run.sources.includes(name))) ?? true
  const inRun = together ? 'at the same setting in this run' : 'at the same setting, in another run on the same drive'
  const memory =
    source.memory === subject.source.memory ? '' : ` ${landing(subject)}, ${landing({ source, cell: subject.cell })}.`
  return `${comparison(found, source.name)} ${inRun}.${atItsBest(findings, subject, other)}${memory}`
}

/** A baseline may want another setting than ours to be fast: it is not to be shown at its worst alone. */
function atItsBest(findings: readonly Finding[], subject: Finding, { series, rate }: Finding): string {
  const own = findings.filter((one) => one.series === series && workloadTitle(one.cell) === workloadTitle(subject.cell))
  const best = bestOf(own)
  if (best.rate.mean <= rate.mean + (rate.marginOfError ?? 0)) return ''
  return ` At its own best, ${formatSetting(best.cell)}, ${best.source.name} has ${formatEstimate('rate', best.rate)}.`
}

function comparison(found: Estimate, baseline: string): string {
  const times = `${formatEstimate('times', found)} times`
  if (found.marginOfError !== undefined && Math.abs(found.mean - 1) <= found.marginOfError)
    return `It cannot be told from ${baseline} (${times} its rate)`
  return `It has ${times} the rate of ${baseline}`
}

function landing({ source, cell }: Pick<Finding, 'source' | 'cell'>): string {
  const memory = source.memory === 'gpu' ? 'GPU memory' : 'host memory'
  return `${source.name} ${cell.rw === 'write' ? 'writes from' : 'has its data in'} ${memory}`
}

/** A rate above the limit by more than the clock may be off. */
const IMPOSSIBLE = 1.01

function doubtsOf({ cells, link }: BenchResults, findings: readonly Finding[]): string[] {
  const failed = cells.filter(({ problem }) => problem?.kind === 'failed').length
  const disbelieved = cells.reduce(
    (sum, { repeats }) => sum + repeats.filter(({ problem }) => problem !== undefined).length,
    0,
  )
  const impossible = findings.filter(
    ({ rate }) => link !== undefined && rate.mean > link.payloadLimitBytesPerSecond * IMPOSSIBLE,
  ).length
  const single = findings.filter(({ rate }) => rate.marginOfError === undefined).length
  const doubts = [
    failed > 0 &&
      `${plural(failed, 'cell')} of ${cells.length} failed the checks of the run, and no rate of them is shown.`,
    disbelieved > 0 &&
      `${plural(disbelieved, 'repeat')} failed the checks of the run and ${disbelieved === 1 ? 'counts' : 'count'} in nothing.`,
    impossible > 0 &&
      `${plural(impossible, 'cell')} of ${cells.length} ${impossible === 1 ? 'is' : 'are'} above what the link can carry: bytes did not all come from the drive, or the link is another.`,
    single > 0 && 'Single repeats have no confidence interval: their error is unknown.',
  ]
  return doubts.filter((doubt) => doubt !== false)
}
