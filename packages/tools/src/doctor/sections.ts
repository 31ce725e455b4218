import type { Diagnosis } from './examine.js'
import { isSolvable, type Finding, type Severity } from './finding.js'
import { ROUTES } from './route.js'

/** Findings as the report has them, each under the number by which it is referred to. */
export interface Sections {
  /** What to do something about. */
  readonly todo: readonly Finding[]
  readonly unknown: readonly Finding[]
  readonly notes: readonly Finding[]
  readonly fine: readonly Finding[]
  readonly numberOf: (finding: Finding) => number | undefined
}

const ORDER: readonly Severity[] = ['blocker', 'problem', 'note']

/** Sorts findings by what somebody has to do about them. What is fine has no number. */
export function sectionsOf({ findings, pairs }: Pick<Diagnosis, 'findings' | 'pairs'>): Sections {
  const verdicts = pairs.flatMap((pair) => pair.verdicts).filter(({ route }) => ROUTES[route].isAdvised)
  // What would help nobody as long as something else is in the way is no work to be done.
  const helps = (finding: Finding) => verdicts.some(({ outlook, unmet }) => outlook !== 'no' && unmet.includes(finding))
  const isTodo = (finding: Finding) => isBad(finding) || (isSolvable(finding) && helps(finding))
  const ofSeverity = (severity: Severity) => findings.filter((each) => each.severity === severity)
  const todo = findings
    .filter((each) => each.severity !== 'ok' && each.severity !== 'unknown' && isTodo(each))
    .sort((a, b) => urgency(a) - urgency(b))
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

/** A problem whatever can be done about it. */
function isBad({ severity }: Finding): boolean {
  return severity === 'blocker' || severity === 'problem'
}

/** By severity, and then by how much hangs on it; a drive goes to our module once that is there. */
function urgency({ id, severity, closes }: Finding): number {
  const needsModule = id === 'drive-by-vfio'
  return (
    ORDER.indexOf(severity) * 10 +
    closes.reduce((least, route) => Math.min(least, ROUTES[route].tier), 9) +
    Number(needsModule) / 2
  )
}
