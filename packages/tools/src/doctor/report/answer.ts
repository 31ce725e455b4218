import type { Invocation } from '../../terminal/invocation.js'
import { renderStep } from '../../command-line/next-step.js'
import { isKnown, valueOf, type Known } from '../../machine/known.js'
import { functionAt } from '../../machine/index.js'
import { printableLine } from '../../terminal/printable.js'
import { formatRate, plural } from '../../terminal/units.js'
import { type Diagnosis, placed } from './examine.js'
import { expectationOf, secondsText, type Expectation, type TokenTime } from './expect.js'
import { type Facts, gpunvme } from '../facts.js'
import { isSolvable, type Finding, type Step, command } from '../finding.js'
import type { Pair } from './judge.js'
import { ROUTES } from '../route.js'
import { stepsOf } from './sections.js'

/** What the owner of a machine wants to know first. */
export interface Answer {
  readonly works: 'now' | 'after-steps' | 'no' | 'unknown'
  /** One sentence: whether a drive can be used, how, or why not. */
  readonly verdict: string
  /** Findings whose steps the best route needs. */
  readonly steps: readonly Finding[]
  /** Rates by the best route; undefined if no drive can be used. */
  readonly expected: Known<Expectation> | undefined
  readonly next: Step
}

/** Number of drives named as unusable; others are only counted. */
const MAX_NAMED = 2

/** Returns the answer. */
export function answerOf(diagnosis: Diagnosis): Answer {
  const { facts, reach } = diagnosis
  const next = nextStep(diagnosis)
  if (reach === 'simulator')
    return { works: 'no', verdict: `Does not work: ${whyNot(diagnosis)}.`, steps: [], expected: undefined, next }
  if (reach === 'unknown')
    return { works: 'unknown', verdict: whyUnknown(diagnosis), steps: [], expected: undefined, next }
  const steps = stepsOf(reach)
  return {
    works: steps.length === 0 ? 'now' : 'after-steps',
    verdict: `${when(diagnosis, steps.length)}: ${what(facts, reach)}.`,
    steps,
    expected: expectationOf(facts, reach),
    next,
  }
}

/** 'Works after 1 step, as far as visible without root'. */
function when({ findings }: Diagnosis, steps: number): string {
  const isPartlyHidden = findings.some(({ id }) => id === 'not-root')
  const after = steps === 0 ? '' : ` after ${plural(steps, 'step')}`
  return `Works${after}${isPartlyHidden ? ', as far as visible without root' : ''}`
}

/** 'WD PC SN740 (nvme1) to RTX 3090 by tier 1'. */
function what(facts: Facts, { drive, gpu, best }: Pair): string {
  const { route } = best!
  const to =
    route === 'memory'
      ? `host memory (${gpu === undefined ? 'no GPU' : 'not to the GPU'})`
      : `${gpuName(facts, gpu!)} by tier ${ROUTES[route].tier}`
  return `${driveName(facts, drive)} to ${to}`
}

function driveName({ machine }: Facts, address: string): string {
  const drive = machine.drives.find((each) => each.address === address)!
  const model = valueOf(drive.model) ?? functionAt(machine, address)?.deviceName ?? 'NVMe drive'
  return `${model} (${drive.name ?? address})`
}

function gpuName({ machine }: Facts, address: string): string {
  const gpus = machine.gpus.filter(({ isIntegrated }) => !isIntegrated)
  const gpu = gpus.find((each) => each.address === address)!
  const model = (valueOf(gpu.model) ?? `${gpu.vendor} GPU`).replace(/^NVIDIA /, '').replace(/^GeForce /, '')
  return gpus.length === 1 ? model : `${model} (${address})`
}

/** Why no drive can be used. */
function whyNot({ facts, findings, pairs, isPartial }: Diagnosis): string {
  const lasting = findings.filter((each) => each.closes.includes('memory') && !isSolvable(each))
  const general = lasting.find(({ subjects }) => subjects.length === 0)
  if (general !== undefined) return lowerFirst(general.title)
  const drives = [...new Set(pairs.map(({ drive }) => drive))]
  const reasons = drives.map((drive) => {
    const reason = lasting.find(({ subjects }) => subjects.includes(drive))
    const isSystem = reason?.id === 'drive-is-system'
    return isSystem || reason === undefined
      ? `${driveName(facts, drive)} is the system drive`
      : lowerFirst(reason.title)
  })
  const more = reasons.length - MAX_NAMED
  const named = reasons.slice(0, MAX_NAMED).join('; ')
  return `${named}${more > 0 ? `; and ${more} more` : ''}${isPartial ? '; other drives were not checked' : ''}`
}

function whyUnknown({ findings }: Diagnosis): string {
  const blind = findings.find(({ severity, closes }) => severity === 'unknown' && closes.includes('memory'))
  if (blind === undefined) return 'Unknown: too little of this machine is visible.'
  return blind.title.startsWith('Unknown') ? `${blind.title}.` : `Unknown: ${lowerFirst(blind.title)}.`
}

/** Abbreviations and addresses keep their case. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? `${text[0]!.toLowerCase()}${text.slice(1)}` : text
}

/** Returns the first three lines of the report: verdict, expectation and next step. */
export function answerLines(
  diagnosis: Diagnosis,
  answer: Answer,
  { invocation }: { readonly invocation: Invocation },
): string[] {
  const { next, verdict } = answer
  const expectation = expectationText(diagnosis, answer)
  return [
    printableLine(verdict),
    printableLine(expectation),
    `Next: ${printableLine(renderStep(next.action, invocation))}`,
  ]
}

const QUALIFIERS = { preset: '', 'slower-link': 'at least ', link: 'up to ', 'small-packets': 'about ' } as const

function expectationText(diagnosis: Diagnosis, { works, expected }: Answer): string {
  if (works === 'unknown') return 'Expected rate unknown.'
  if (expected === undefined) {
    const gpu = computes(diagnosis) ? ', and this GPU can drive them' : ''
    return `No rate to expect: only simulated drives work here${gpu}.`
  }
  if (!isKnown(expected)) return `Expected rate unknown: ${expected.unknown}.`
  const { bytesPerSecond, rateFrom, tokens, isMemoryUnknown } = expected
  const rate = `${QUALIFIERS[rateFrom]}${formatRate(bytesPerSecond, 1e9)}`
  if (tokens.length === 0) return `Expect ${rate} into host memory.`
  const unknown = isMemoryUnknown ? ' (GPU memory unknown)' : ''
  return `Expect ${rate}; 70B model: ${tokenText(tokens)}${unknown}.`
}

/** '4.1 s per token at Q4, 9.0 s at Q6'. */
function tokenText(tokens: readonly TokenTime[]): string {
  if (tokens.every(({ seconds }) => seconds === 0)) return 'fits in GPU memory at Q4 and Q6'
  if (tokens.every(({ seconds }) => seconds === undefined)) return 'GPU memory too small for its buffers'
  let unit = ' per token'
  const parts = tokens.map(({ quantisation, seconds }) => {
    if (seconds === undefined) return `GPU memory too small at ${quantisation}`
    if (seconds === 0) return `fits in GPU memory at ${quantisation}`
    const text = `${secondsText(seconds)}${unit} at ${quantisation}`
    unit = ''
    return text
  })
  return parts.join(', ')
}

/** Returns the line of assumptions; none if nothing is expected. */
export function assumptionLines({ expected }: Answer): string[] {
  if (expected === undefined || !isKnown(expected)) return []
  return [`Assumed: ${expected.assumed.join('; ')}.`]
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
  const first = stepsOf(reach)
    .flatMap(({ steps }) => steps)
    .find(({ kind }) => kind !== 'instead')
  if (first !== undefined) return first
  return placed(facts, command(gpunvme(facts, `nvme identify --drive ${reach.drive}`, 'root')))
}

/** Whether CUDA has a GPU here that the engine cuda can use with a simulated drive. */
export function computes({ facts: { process } }: Pick<Diagnosis, 'facts'>): boolean {
  return (
    process?.cuda.available === true &&
    process.addon.isLoaded &&
    process.cuda.devices.some(({ engine }) => engine.usable)
  )
}
