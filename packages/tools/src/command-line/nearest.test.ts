import { expect, test } from 'vitest'
import { nearest } from './nearest.js'

const VERBS = ['list', 'load', 'log', 'read', 'regs', 'replay', 'verify', 'write']

test.each([
  ['verfy', ['verify']],
  ['raed', ['read']],
  ['rites', ['write']],
  ['lod', ['load', 'log']],
  ['verifyy', ['verify']],
  ['frobnicate', []],
  ['x', []],
])('finds the words with the fewest edits from %s', (word, expected) => {
  expect(nearest(word, VERBS)).toEqual(expected)
})

test('finds the words that a shorter one abbreviates, however long the rest is', () => {
  expect(nearest('cap', ['capacity', 'cdw11', 'tap'])).toEqual(['capacity'])
  expect(nearest('re', VERBS)).toEqual(['read', 'regs', 'replay'])
})
