import type { Invocation } from '../../terminal/invocation.js'
import { renderStep } from '../../command-line/next-step.js'
import { printableLine } from '../../terminal/printable.js'
import { answerLines, answerOf, assumptionLines, type Answer } from './answer.js'
import type { Diagnosis } from './examine.js'
import { GROUPS, isSolvable, type Finding, type Step } from '../finding.js'
import { heading } from './heading.js'
import { describePairs } from './describe-pairs.js'
import { ROUTES } from '../route.js'
import { sectionsOf, type Sections } from './sections.js'

export interface ReportOptions {
  /** Whether all facts, checks and routes are included. */
  readonly verbose: boolean
  /** How this program was started, for the commands of the steps. */
  readonly invocation: Invocation
}

/** Number of similar findings that the short report prints; others are only counted. */
const MAX_ALIKE = 2

const TIERS = 'Tier 1 reads through host memory, tier 2 into GPU memory; 3 adds queues there.'

/** Returns the diagnosis as text: verdict, expectation and next step, then what to do; with `verbose`, all of it. */
export function formatReport(diagnosis: Diagnosis, options: ReportOptions): string[] {
  const { verbose } = options
  const sections = sectionsOf(diagnosis)
  const answer = answerOf(diagnosis)
  return [
    ...answerLines(diagnosis, answer, options),
    ...(verbose ? inDetail(diagnosis, sections, options) : inBrief(diagnosis, answer, sections, options)),
    '',
    ...assumptionLines(answer),
    TIERS,
    'Inferred from system information; nothing was tested.',
    ...(verbose ? [] : ['--verbose: all facts, checks, routes and steps.']),
  ]
}

/** The steps of the best route, and other findings about the same devices that can be acted on. */
function inBrief(diagnosis: Diagnosis, { steps }: Answer, { todo }: Sections, options: ReportOptions): string[] {
  const { reach, findings } = diagnosis
  const lasting = findings.filter((each) => each.closes.includes('memory') && !isSolvable(each))
  const causes = reach === 'simulator' ? [...new Set(lasting.flatMap(({ cause }) => cause ?? []))] : []
  const isAbout = ({ subjects }: Finding) =>
    typeof reach === 'string' || subjects.every((each) => each === reach.drive || each === reach.gpu)
  const others = [...todo, ...findings.filter(isWorthALine)].filter(
    (each, index, all) =>
      !steps.includes(each) && !lasting.includes(each) && isAbout(each) && all.indexOf(each) === index,
  )
  const numbered = steps.flatMap((each, index) => [
    `  ${index + 1}  ${printableLine(each.title)}`,
    ...each.steps.filter(({ kind }) => kind !== 'instead').map((step) => formatStep(step, options)),
  ])
  return [
    ...paragraph(causes.map(printableLine)),
    ...titled('Steps', numbered),
    ...titled(
      'Also found',
      fewAlike(others).map((title) => `  -  ${printableLine(title)}`),
    ),
    ...trials(diagnosis),
  ]
}

/** Whether it rules out the GPU, costs speed, or names data that a write would destroy. */
function isWorthALine({ id, severity, steps, closes }: Finding): boolean {
  if (severity === 'ok' || severity === 'unknown') return false
  const rulesOutGpu = id === 'no-gpu' || (closes.includes('tier1') && !isSolvable({ steps }))
  const isImprovable = closes.length === 0 && isSolvable({ steps })
  return rulesOutGpu || isImprovable || id === 'drive-unused'
}

/** Returns the titles of findings; similar ones after the first few become a count. */
function fewAlike(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ id, title }, index) => {
    const before = findings.slice(0, index).filter((each) => each.id === id).length
    if (before < MAX_ALIKE) return title
    const more = findings.filter((each) => each.id === id).length - MAX_ALIKE
    return before === MAX_ALIKE ? `and ${more} similar` : []
  })
}

/** Routes above the best one that only a test can open. */
function trials({ reach }: Diagnosis): string[] {
  if (typeof reach === 'string') return []
  const routes = reach.verdicts.filter(({ route, readiness }) => readiness === 'try' && ROUTES[route].isAdvised)
  if (routes.length === 0) return []
  const names = routes.map(({ route }) => ROUTES[route].short).join(', ')
  return ['', `Untested, may also work: ${names}.`]
}

function inDetail(diagnosis: Diagnosis, sections: Sections, options: ReportOptions): string[] {
  const section = (title: string, findings: readonly Finding[]) =>
    titled(
      title,
      findings.flatMap((each) => inFull(each, sections, options)),
    )
  return [
    '',
    ...heading(diagnosis),
    ...section('To do', sections.todo),
    ...section('Unknown', sections.unknown),
    ...section('Worth knowing', sections.notes),
    ...fine(sections),
    ...describePairs(diagnosis, sections),
  ]
}

function paragraph(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines]
}

function titled(title: string, lines: readonly string[]): string[] {
  return paragraph(lines.length === 0 ? [] : [title, ...lines])
}

function inFull(finding: Finding, sections: Sections, options: ReportOptions): string[] {
  const { severity, title, cause, evidence, steps, closes } = finding
  const mark = `${sections.numberOf(finding) ?? ''}`.padStart(3)
  const label = severity === 'note' || severity === 'unknown' ? '' : `${severity.toUpperCase()}: `
  const opens = closes.map((route) => ROUTES[route].short)
  return [
    `${mark}  ${printableLine(`${label}${title}`)}`,
    ...(cause === undefined ? [] : [`     ${printableLine(cause)}`]),
    ...evidence.map((each) => `     read  ${evidenceText(each)}`),
    ...steps.map((step) => formatStep(step, options)),
    ...(opens.length === 0 ? [] : [`     ${isSolvable(finding) ? 'opens' : 'stops'} ${opens.join(', ')}`]),
  ]
}

function evidenceText({ source, value }: { readonly source: string; readonly value: string }): string {
  return printableLine(source === '' ? value : `${source}: ${value}`)
}

const MARKS: Readonly<Record<Step['kind'], string>> = { command: '$', firmware: '-', hands: '-', instead: 'or' }

function formatStep({ kind, action }: Step, { invocation }: ReportOptions): string {
  return `     ${MARKS[kind]} ${printableLine(renderStep(action, invocation))}`
}

function fine({ fine: findings }: Sections): string[] {
  const lines = Object.entries(GROUPS).flatMap(([group, title]) => {
    const own = findings.filter((each) => each.group === group)
    return own.length === 0 ? [] : [`  ${title}`, ...own.flatMap(passed)]
  })
  return titled('Fine', lines)
}

function passed({ title, evidence }: Finding): string[] {
  return [`     ${printableLine(title)}`, ...evidence.map((each) => `       read  ${evidenceText(each)}`)]
}
