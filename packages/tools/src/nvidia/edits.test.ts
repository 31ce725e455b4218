import { expect, test } from 'vitest'
import { edited, formatDiff, type Edit } from './edits.js'

const SOURCE = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('')

function replace(from: string, to: string): Edit {
  return { at: SOURCE.indexOf(from), removed: from.length, text: to }
}

// Expected output as by `diff -u`.
test('formatDiff puts close edits into one hunk', () => {
  const edits = [replace('line 3\n', 'three\n'), replace('line 6', 'six')]
  expect(formatDiff('a.c', SOURCE, edits)).toEqual([
    '--- a/a.c',
    '+++ b/a.c',
    '@@ -1,9 +1,9 @@',
    ...[' line 1', ' line 2', '-line 3', '+three', ' line 4', ' line 5', '-line 6', '+six'],
    ...[' line 7', ' line 8', ' line 9'],
  ])
})

test('formatDiff puts distant edits into separate hunks with shifted line numbers', () => {
  const edits = [{ at: 0, removed: 0, text: 'new\n' }, replace('line 20', 'twenty')]
  expect(formatDiff('a.c', SOURCE, edits)).toEqual([
    ...['--- a/a.c', '+++ b/a.c', '@@ -1,3 +1,4 @@', '+new', ' line 1', ' line 2', ' line 3'],
    ...['@@ -17,4 +18,4 @@', ' line 17', ' line 18', ' line 19', '-line 20', '+twenty'],
  ])
})

test('formatDiff prints an insertion without its line, and two edits of a line as one change', () => {
  const behind = { at: SOURCE.indexOf('\nline 3'), removed: 0, text: '\nnew' }
  expect(formatDiff('a.c', SOURCE, [behind]).slice(2, 6)).toEqual(['@@ -1,5 +1,6 @@', ' line 1', ' line 2', '+new'])
  const [first, second] = [replace('li', 'LI'), { at: 5, removed: 1, text: 'one' }]
  expect(formatDiff('a.c', SOURCE, [first, second]).slice(2, 5)).toEqual(['@@ -1,4 +1,4 @@', '-line 1', '+LIne one'])
  expect(edited(SOURCE, [first, second])).toBe(SOURCE.replace('line 1\n', 'LIne one\n'))
})

test('formatDiff prints a new file as a diff of /dev/null', () => {
  expect(formatDiff('etc/a.conf', '', [{ at: 0, removed: 0, text: 'one\ntwo\n' }])).toEqual([
    ...['--- /dev/null', '+++ b/etc/a.conf', '@@ -0,0 +1,2 @@', '+one', '+two'],
  ])
})
