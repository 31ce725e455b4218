import type { Invocation } from '../command-line/invocation.js'
import { renderStep } from '../command-line/next-step.js'
import { plural } from '../terminal/units.js'
import type { Diagnosis } from './examine.js'
import { GROUPS, isSolvable, type Finding, type Step } from './finding.js'
import { fold } from './fold.js'
import { heading } from './heading.js'
import { closing, describePairs } from './outlook.js'
import { ROUTES } from './route.js'
import { sectionsOf, type Sections } from './sections.js'

export interface ReportOptions {
  /** Maximum width of lines: 80, or Infinity for programs. */
  readonly columns: number
  /** Whether passed checks and all evidence are included. */
  readonly verbose: boolean
  /** How this program was started, for the commands of the steps. */
  readonly invocation: Invocation
}

/** Number of similar findings that are printed; others are only counted. */
const MAX_ALIKE = 2

/** Returns the diagnosis as text. */
export function formatReport(diagnosis: Diagnosis, options: ReportOptions): string[] {
  const sections = sectionsOf(diagnosis)
  return [
    ...heading(diagnosis, options.columns),
    ...section('To do', sections.todo, (each) => inFull(each, sections, options), options),
    ...section('Unknown', sections.unknown, (each) => inShort(each, sections, options), options),
    ...section('Worth knowing', sections.notes, (each) => inShort(each, sections, options), options),
    ...fine(sections, options),
    ...describePairs(diagnosis, sections, options),
    '',
    ...closing(diagnosis, sections, options),
  ]
}

function section(
  title: string,
  findings: readonly Finding[],
  print: (finding: Finding) => string[],
  { verbose, columns }: ReportOptions,
): string[] {
  if (findings.length === 0) return []
  const lines: string[] = []
  for (const [index, each] of findings.entries()) {
    const before = findings.slice(0, index).filter(({ id }) => id === each.id).length
    if (verbose || before < MAX_ALIKE) for (const line of print(each)) lines.push(line)
    if (!verbose && before === MAX_ALIKE) {
      const more = findings.filter(({ id }) => id === each.id).length - MAX_ALIKE
      for (const line of fold('     ', `and ${more} similar (--verbose lists them)`, columns)) lines.push(line)
    }
  }
  return ['', title, ...lines]
}

function inFull(finding: Finding, sections: Sections, options: ReportOptions): string[] {
  const { columns, verbose } = options
  const { severity, title, cause, evidence, steps, closes } = finding
  const mark = `${sections.numberOf(finding) ?? ''}`.padStart(3)
  const label = severity === 'note' ? '' : `${severity.toUpperCase()}: `
  // A note that only asks for a step needs no evidence.
  const shownEvidence = verbose ? evidence : evidence.slice(0, severity === 'note' ? 0 : 4)
  const opens = severity === 'note' && !verbose ? [] : closes.map((route) => ROUTES[route].short)
  return [
    ...fold(`${mark}  `, `${label}${title}`, columns),
    ...(cause === undefined || (severity === 'note' && !verbose) ? [] : fold('     ', cause, columns)),
    ...shownEvidence.flatMap((each) => fold('     read  ', evidenceText(each), columns)),
    ...steps.flatMap((step) => formatStep(step, options)),
    ...(opens.length === 0 ? [] : fold(isSolvable(finding) ? '     opens ' : '     stops ', opens.join(', '), columns)),
  ]
}

function inShort(finding: Finding, sections: Sections, options: ReportOptions): string[] {
  if (options.verbose) return inFull(finding, sections, options)
  const mark = `${sections.numberOf(finding) ?? ''}`.padStart(3)
  // One of several steps would look like the whole remedy.
  const [step, ...others] = finding.steps
  const only = step !== undefined && others.length === 0 && step.kind !== 'firmware' ? [step] : []
  return [...fold(`${mark}  `, finding.title, options.columns), ...only.flatMap((each) => formatStep(each, options))]
}

function evidenceText({ source, value }: { readonly source: string; readonly value: string }): string {
  return source === '' ? value : `${source}: ${value}`
}

const MARKS: Readonly<Record<Step['kind'], string>> = { command: '$', firmware: '-', hands: '-', instead: 'or' }

/** Commands are not folded, so that they can be copied. */
function formatStep({ kind, action }: Step, { columns, invocation }: ReportOptions): string[] {
  const prefix = `     ${MARKS[kind].padEnd(2)}    `
  return fold(prefix, renderStep(action, invocation), kind === 'command' ? Infinity : columns)
}

function fine({ fine: findings }: Sections, { verbose, columns }: ReportOptions): string[] {
  if (findings.length === 0) return []
  if (!verbose) return ['', `Passed: ${plural(findings.length, 'check')} (--verbose lists them)`]
  const lines: string[] = []
  for (const [group, title] of Object.entries(GROUPS)) {
    const own = findings.filter((each) => each.group === group)
    if (own.length === 0) continue
    lines.push(`  ${title}`)
    for (const each of own) {
      for (const line of fold('     ', each.title, columns)) lines.push(line)
      for (const evidence of each.evidence)
        for (const line of fold('       read  ', evidenceText(evidence), columns)) lines.push(line)
    }
  }
  return ['', 'Fine', ...lines]
}
