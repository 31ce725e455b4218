import type { Diagnosis } from './examine.js'
import { isSolvable, type Finding, type Severity } from '../finding.js'
import type { Pair } from './judge.js'
import { ROUTES } from '../route.js'

/** Findings by section of the report, with their numbers. */
export interface Sections {
  /** Findings to act on; those of the best route first. */
  readonly todo: readonly Finding[]
  readonly unknown: readonly Finding[]
  readonly notes: readonly Finding[]
  readonly fine: readonly Finding[]
  readonly numberOf: (finding: Finding) => number | undefined
}

const ORDER: readonly Severity[] = ['blocker', 'problem', 'note']

/** Sorts findings into sections. Passed checks have no number. */
export function sectionsOf({ findings, pairs, reach }: Pick<Diagnosis, 'findings' | 'pairs' | 'reach'>): Sections {
  const verdicts = pairs.flatMap((pair) => pair.verdicts).filter(({ route }) => ROUTES[route].isAdvised)
  // A finding whose solution helps no route yet is not work to be done.
  const helps = (finding: Finding) =>
    verdicts.some(({ readiness, unmet }) => readiness !== 'no' && unmet.includes(finding))
  const isTodo = (finding: Finding) => isBad(finding) || (isSolvable(finding) && helps(finding))
  const ofSeverity = (severity: Severity) => findings.filter((each) => each.severity === severity)
  const first = typeof reach === 'string' ? [] : stepsOf(reach)
  const rest = findings
    .filter((each) => each.severity !== 'ok' && each.severity !== 'unknown' && isTodo(each))
    .filter((each) => !first.includes(each))
    .sort((a, b) => urgency(a) - urgency(b))
  const todo = [...first, ...rest]
  const unknown = ofSeverity('unknown')
  const notes = ofSeverity('note').filter((each) => !isTodo(each))
  const numbered = [...todo, ...unknown, ...notes]
  return {
    ...{ todo, unknown, notes, fine: ofSeverity('ok') },
    numberOf: (finding) => {
      const index = numbered.indexOf(finding)
      return index < 0 ? undefined : index + 1
    },
  }
}

/** Returns the findings whose steps the best route of a pair needs, in the order of the work. */
export function stepsOf({ best }: Pair): Finding[] {
  return (best?.unmet ?? []).toSorted((a, b) => urgency(a) - urgency(b))
}

/** Whether it is a problem, with or without a remedy. */
function isBad({ severity }: Finding): boolean {
  return severity === 'blocker' || severity === 'problem'
}

/** Sort key: severity, then the lowest tier closed. A drive is rebound to our module after the module is installed. */
function urgency({ id, severity, closes }: Finding): number {
  const needsModule = id === 'drive-by-vfio'
  return (
    ORDER.indexOf(severity) * 10 +
    closes.reduce((min, route) => Math.min(min, ROUTES[route].tier), 9) +
    Number(needsModule) / 2
  )
}
