import { expect, test } from 'vitest'
import { fitted, labelled } from './lines.js'

test('fitted folds all lines to the width, including long hexadecimal values', () => {
  const lines = fitted(['  NAME=one two three', `  VS=${'ab'.repeat(40)}`, labelled('model', 'x'.repeat(50))], 24)
  expect(lines.filter((line) => line.length > 24)).toEqual([])
  expect(lines.slice(0, 2)).toEqual(['  NAME=one two three', `  VS=${'ab'.repeat(9)}a`])
  // Nothing is lost.
  expect(lines.join('').replaceAll(' ', '')).toContain('ab'.repeat(40))
})

test('fitted does not fold lines for programs', () => {
  const line = `  ${'word '.repeat(100)}`
  expect(fitted([line], Infinity)).toEqual([line])
})
