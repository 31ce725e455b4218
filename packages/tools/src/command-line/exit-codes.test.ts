import { expect, test } from 'vitest'
import { EXIT, EXIT_HELP } from './exit-codes.js'

test('exit codes are stable, and the help lists all of them', () => {
  expect(EXIT).toEqual({
    ok: 0,
    failure: 1,
    usage: 2,
    'not-found': 3,
    privilege: 4,
    device: 5,
    verification: 6,
    infeasible: 7,
    interrupted: 130,
  })
  for (const code of Object.values(EXIT)) expect(EXIT_HELP).toMatch(new RegExp(`\\b${code}  [a-z]`, 'i'))
})
