import type { Diagnosis } from './examine.js'
import type { Finding } from '../finding.js'
import type { Pair, Verdict } from './judge.js'
import { ROUTES } from '../route.js'
import type { Sections } from './sections.js'

/** Two blanks after the longest title. */
const TITLE_COLUMNS = 2 + Object.values(ROUTES).reduce((max, { title }) => Math.max(max, title.length), 0)

/** Returns the routes between drives and GPUs. Numbers refer to the findings above. */
export function describePairs({ pairs }: Diagnosis, sections: Sections): string[] {
  if (pairs.length === 0) return []
  return [
    '',
    'What is possible (numbers refer to findings above)',
    ...pairs.flatMap((pair) => describePair(pair, sections)),
  ]
}

function describePair({ drive, gpu, verdicts }: Pair, sections: Sections): string[] {
  const title = gpu === undefined ? drive : `${drive} to ${gpu}`
  return [
    `  ${title}`,
    ...verdicts.map(
      (verdict) => `    ${ROUTES[verdict.route].title.padEnd(TITLE_COLUMNS)}${describeVerdict(verdict, sections)}`,
    ),
  ]
}

function describeVerdict({ readiness, unmet, unknown }: Verdict, sections: Sections): string {
  const numbers = (findings: readonly Finding[]) => numbersOf(findings, sections)
  switch (readiness) {
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
