import type { Verb } from '../src/command-line/session.js'
import { SECTIONS } from '../src/verbs.js'

/** All verbs; the name of a verb in a group is its full one: 'nvme read'. */
export const VERBS: readonly Verb[] = SECTIONS.flatMap(({ entries }) => entries).flatMap((entry): Verb[] => {
  if (!('verbs' in entry)) return [entry]
  const { name, summary, alone, verbs } = entry
  const own = alone === undefined ? [] : [{ name, summary, ...alone }]
  return [...own, ...verbs.map((verb) => ({ ...verb, name: `${name} ${verb.name}` }))]
})
