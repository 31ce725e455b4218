import { expect, test } from 'vitest'
import { fitted, labelled } from './lines.js'

test('no line is wider than the terminal, hexadecimal digits without a blank included', () => {
  const lines = fitted(['  NAME=one two three', `  VS=${'ab'.repeat(40)}`, labelled('model', 'x'.repeat(50))], 24)
  expect(lines.filter((line) => line.length > 24)).toEqual([])
  expect(lines.slice(0, 2)).toEqual(['  NAME=one two three', `  VS=${'ab'.repeat(9)}a`])
  // Nothing is lost.
  expect(lines.join('').replaceAll(' ', '')).toContain('ab'.repeat(40))
})

test('lines that a program reads are left whole', () => {
  const line = `  ${'word '.repeat(100)}`
  expect(fitted([line], Infinity)).toEqual([line])
})
