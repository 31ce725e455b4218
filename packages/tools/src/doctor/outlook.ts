import { renderStep } from '../command-line/next-step.js'
import { placed, type Diagnosis } from './examine.js'
import { gpunvme } from './facts.js'
import { command, type Finding, type Step } from './finding.js'
import { fold } from './fold.js'
import type { Pair, Verdict } from './judge.js'
import type { ReportOptions } from './report.js'
import { ROUTES } from './route.js'
import type { Sections } from './sections.js'

/** Number of pairs that are printed; others are only counted. */
const MAX_PAIRS = 2

/** Returns the routes between drives and GPUs that are possible. Numbers refer to the findings above. */
export function describePairs(
  { pairs }: Diagnosis,
  sections: Sections,
  { columns, verbose }: Pick<ReportOptions, 'columns' | 'verbose'>,
): string[] {
  if (pairs.length === 0) return []
  const worth = pairs.filter(({ verdicts }) => verdicts.some(({ outlook }) => outlook !== 'no'))
  const listed = verbose ? pairs : (worth.length > 0 ? worth : pairs).slice(0, MAX_PAIRS)
  const left = pairs.length - listed.length
  return [
    '',
    'What is possible (numbers refer to findings above)',
    ...listed.flatMap((pair) => describePair(pair, sections, columns)),
    ...(left === 0 ? [] : [`  and ${left} more ${left === 1 ? 'pair' : 'pairs'} (--verbose lists them)`]),
  ]
}

function describePair({ drive, gpu, verdicts }: Pair, sections: Sections, columns: number): string[] {
  const title = gpu === undefined ? drive : `${drive} to ${gpu}`
  return [
    `  ${title}`,
    ...verdicts.flatMap((verdict) =>
      fold(`    ${ROUTES[verdict.route].title.padEnd(50)}`, describeVerdict(verdict, sections), columns),
    ),
  ]
}

function describeVerdict({ outlook, unmet, unknown }: Verdict, sections: Sections): string {
  const numbers = (findings: readonly Finding[]) => numbersOf(findings, sections)
  switch (outlook) {
    case 'ready':
      return 'ready'
    case 'steps':
      return `after ${numbers(unmet)}`
    case 'try':
      return unmet.length === 0 ? 'to be tried' : `to be tried, after ${numbers(unmet)}`
    case 'unknown':
      return `unknown: ${numbers(unknown)}${unmet.length === 0 ? '' : `; after ${numbers(unmet)}`}`
    case 'no':
      return `no: ${numbers(unmet.filter(({ steps }) => steps.every(({ kind }) => kind === 'instead')))}`
  }
}

function numbersOf(findings: readonly Finding[], { numberOf }: Sections): string {
  const numbers = findings.map((each) => numberOf(each)).filter((number) => number !== undefined)
  return numbers.sort((a, b) => a - b).join(', ')
}

/** Returns the last lines of the report: the best that this machine can do, and the next step. */
export function closing(
  diagnosis: Diagnosis,
  sections: Sections,
  { columns, invocation }: Pick<ReportOptions, 'columns' | 'invocation'>,
): string[] {
  const { reach } = diagnosis
  const next = nextStep(diagnosis)
  const nextLine = fold('Next:  ', renderStep(next.action, invocation), next.kind === 'command' ? Infinity : columns)
  if (reach === 'simulator') {
    const what = computes(diagnosis) ? 'the simulator, with this GPU' : 'the simulator'
    return [...fold('Best:  ', `${what}: ${whyNone(diagnosis)}`, columns), ...nextLine]
  }
  if (reach === 'unknown')
    return [...fold('Best:  ', 'unknown: too little of this machine is visible', columns), ...nextLine]
  const { best, drive, gpu } = reach
  const where = gpu === undefined ? `from ${drive}` : `from ${drive} to ${gpu}`
  const state = best!.outlook === 'ready' ? 'ready' : `after ${numbersOf(best!.unmet, sections)}`
  const trials = reach.verdicts
    .filter(({ route, outlook }) => outlook === 'try' && ROUTES[route].isAdvised)
    .map(({ route }) => ROUTES[route].short)
  return [
    ...fold('Best:  ', `${ROUTES[best!.route].short} ${where}, ${state}`, columns),
    ...(trials.length === 0 ? [] : fold('Then:  ', `to be tried: ${trials.join(', ')}`, columns)),
    ...nextLine,
  ]
}

/** Whether CUDA has a GPU here that the engine cuda can use with a simulated drive. */
function computes({ facts: { process } }: Pick<Diagnosis, 'facts'>): boolean {
  return (
    process?.cuda.available === true &&
    process.addon.isLoaded &&
    process.cuda.devices.some(({ engine }) => engine.usable)
  )
}

/** Returns the sentence that no drive can be used. */
function whyNone({ pairs, isPartial }: Diagnosis): string {
  if (!isPartial) return 'no drive here can be used from user space'
  const drives = [...new Set(pairs.map(({ drive }) => drive))].join(' and ')
  return `${drives} cannot be used; other drives were not checked`
}

/** Returns the next step. */
export function nextStep({ facts, findings, reach, isPartial }: Omit<Diagnosis, 'pairs'>): Step {
  if (reach === 'simulator') {
    // The simulator runs on this machine, also if the files of another were read.
    const alone = computes({ facts }) ? ['bench', '--real-time', '--engines', 'host,cpu-kernel,cuda'] : ['demo']
    return command(isPartial ? gpunvme(facts, 'doctor') : { command: alone })
  }
  if (reach === 'unknown') {
    const blind = findings.filter(({ severity, closes }) => severity === 'unknown' && closes.includes('memory'))
    const [first] = blind.flatMap(({ steps }) => steps)
    if (first !== undefined) return first
    const words =
      facts.process?.isRoot === false ? gpunvme(facts, 'doctor', 'root') : gpunvme(facts, 'doctor --verbose')
    return command(words)
  }
  const first = reach.best!.unmet.flatMap(({ steps }) => steps).find(({ kind }) => kind !== 'instead')
  if (first !== undefined) return first
  return placed(facts, command(gpunvme(facts, `nvme identify --drive ${reach.drive}`, 'root')))
}
