import type { CheckResult, Report } from './report.js'

const MARKS = { passed: 'ok  ', failed: 'FAIL', error: 'ERR ', 'not-applicable': '-   ' } as const

/** Formats a result in one or two lines. */
export function lineOf({ id, title, verdict, reason, durationMs }: CheckResult): string {
  const first = `${MARKS[verdict]} ${id} (${durationMs} ms): ${title}`
  return reason === undefined ? first : `${first}\n     ${reason.replaceAll('\n', '\n     ')}`
}

/** Formats the machine, for display before the results. */
export function headline({ cuda, machine }: Report): string {
  if (!cuda.available) return [cuda.message, ...cuda.facts, `Try: ${cuda.next}`].join('\n  ')
  return `${cuda.message}\nLinux ${machine.kernel}, ${machine.cpus} CPUs of ${machine.cpu}, Node ${machine.node}`
}

/** Formats figures and totals, for display after the results. */
export function conclusion({ checks, figures, outcome, ended, cuda }: Report): string {
  if (!cuda.available) return `No check ran: no GPU is usable (${cuda.state}).`
  const count = (verdict: CheckResult['verdict']) => checks.filter((each) => each.verdict === verdict).length
  const measured = figures.map(({ name, value, unit, per, conditions }) => {
    const under = Object.entries(conditions).map(([what, how]) => `${what} ${JSON.stringify(how)}`)
    return `  ${name}: ${value} ${unit}, ${per} (${under.join(', ')})`
  })
  const counts = `${count('passed')} passed, ${count('failed')} failed, ${count('error')} ended with an error, ${count('not-applicable')} not applicable`
  return [...measured, `${outcome}: ${counts}${ended === undefined ? '' : `; ${ended}`}`].join('\n')
}
