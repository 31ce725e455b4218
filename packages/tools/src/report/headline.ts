import { formatBytes, plural } from '../terminal/units.js'
import type { BenchResults } from './bench-results.js'
import { atSettingOf, bestOf, findingsOf, formatSetting, sourceName, workloadTitle, type Finding } from './findings.js'
import { formatEstimate, formatQuantity, formatShare } from './quantities.js'
import { ratio, type Estimate } from './statistics.js'

/** Results of the run in self-contained sentences. */
export interface Headline {
  /** Source, rate, setting and clock. */
  readonly claim: string
  /** Comparison with the link, and with the best baseline at the same setting in the same run. */
  readonly context: readonly string[]
  /** Reservations, most important first. */
  readonly caveats: readonly string[]
}

/** The finding that the first sentence is about. Undefined if nothing was measured. */
export function subjectOf(findings: readonly Finding[]): Finding | undefined {
  const reads = findings.filter(({ cell }) => cell.rw === 'read')
  const candidates = reads.length > 0 ? reads : findings
  return candidates.length === 0 ? undefined : bestOf(candidates)
}

export function headlineOf(results: BenchResults): Headline {
  const findings = findingsOf(results)
  const subject = subjectOf(findings)
  const caveats = caveatsOf(results, findings)
  if (subject === undefined)
    return { claim: 'Nothing was measured: no cell of this run has a valid rate.', context: [], caveats }
  return { claim: claimOf(results, subject), context: contextOf(results, findings, subject), caveats }
}

function claimOf({ time, drive }: BenchResults, { source, cell, rate }: Finding): string {
  const doing = { read: 'reads', write: 'writes', mixed: 'reads and writes' }[cell.rw]
  const where = { read: 'from', write: 'to', mixed: 'on' }[cell.rw]
  const setting = `${workloadTitle(cell).toLowerCase()}, ${formatBytes(cell.blockBytes)} each, at queue depth ${cell.depth}`
  const claim = `${sourceName(source)} ${doing} ${formatEstimate('rate', rate)}`
  return time === 'modelled'
    ? `In modelled time, ${claim} ${where} ${simulated(drive.model)}: ${setting}.`
    : `${claim.charAt(0).toUpperCase()}${claim.slice(1)} ${where} ${drive.model}: ${setting}.`
}

/** Most simulated drives have 'simulated' in their names. */
function simulated(model: string): string {
  return /^simulated\b/i.test(model) ? `a ${model}` : `a simulated ${model}`
}

function contextOf(results: BenchResults, findings: readonly Finding[], subject: Finding): string[] {
  const modelled = 'Times are modelled: this is a prediction of the simulator, not a measurement.'
  return [
    ...(results.time === 'modelled' ? [modelled] : []),
    shareOfLink(results, subject.rate),
    againstBaseline(results, findings, subject),
  ]
}

function shareOfLink({ link }: BenchResults, { mean }: Estimate): string {
  if (link === undefined) return 'The link of the drive is unknown, so there is no limit to compare with.'
  const { gen, width, mps, payloadLimitBytesPerSecond: limit } = link
  return `That is ${formatShare(mean / limit)} of the payload limit of its link, ${formatQuantity('rate', limit)} (Gen${gen} x${width}, MPS ${mps}).`
}

function againstBaseline(results: BenchResults, findings: readonly Finding[], subject: Finding): string {
  const { sources } = results
  if (subject.source.kind === 'baseline') return 'No engine was measured; this is a baseline.'
  const beside = atSettingOf(findings, subject.cell).filter(({ source }) => source.kind === 'baseline')
  if (beside.length === 0) {
    const baselines = sources.filter(({ kind }) => kind === 'baseline').map(({ name }) => name)
    return baselines.length === 0
      ? 'No baseline was requested for comparison.'
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

/** A baseline may need another setting to be fast; both are shown for fairness. */
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
  return `${sourceName(source)} ${cell.rw === 'write' ? 'writes from' : 'has its data in'} ${memory}`
}

/** Rates above the limit by more than the clock's error are impossible. */
const IMPOSSIBLE = 1.01

function caveatsOf({ cells, link, time }: BenchResults, findings: readonly Finding[]): string[] {
  const failed = cells.filter(({ problem }) => problem?.kind === 'failed').length
  const disbelieved = cells.reduce(
    (sum, { repeats }) => sum + repeats.filter(({ problem }) => problem !== undefined).length,
    0,
  )
  const impossible = findings.filter(
    ({ rate }) => link !== undefined && rate.mean > link.payloadLimitBytesPerSecond * IMPOSSIBLE,
  ).length
  const single = findings.filter(({ rate }) => rate.marginOfError === undefined).length
  const caveats = [
    failed > 0 &&
      `${plural(failed, 'cell')} of ${cells.length} failed the checks of the run; their rates are not shown.`,
    disbelieved > 0 &&
      `${plural(disbelieved, 'repeat')} failed the checks of the run and ${disbelieved === 1 ? 'is' : 'are'} excluded.`,
    impossible > 0 &&
      `${plural(impossible, 'cell')} of ${cells.length} ${impossible === 1 ? 'is' : 'are'} above the limit of the link: not all bytes came from the drive, or the link data are wrong.`,
    time === 'wall' && single > 0 && 'Single repeats have no confidence interval: their error is unknown.',
  ]
  return caveats.filter((caveat) => caveat !== false)
}
