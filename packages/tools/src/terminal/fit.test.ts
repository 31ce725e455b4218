import { expect, test } from 'vitest'
import { fit, fitHelp } from './fit.js'

const fitted = (line: string, columns: number) => fit(line, columns, 'gpunvme')

test('fit keeps lines that fit, and folds others between words', () => {
  expect(fitted('six words fit into one line', 30)).toEqual(['six words fit into one line'])
  expect(fitted('a line that is longer than thirty columns', 30)).toEqual([
    'a line that is longer than',
    '  thirty columns',
  ])
})

test('fit aligns continued lines with the last column that leaves room', () => {
  expect(fitted('12h  feature-effects  feature identifiers supported and effects', 50)).toEqual([
    '12h  feature-effects  feature identifiers',
    '                      supported and effects',
  ])
})

test('fit does not break words and commands', () => {
  const path = `/sys/${'x'.repeat(60)}`
  expect(fitted(path, 40)).toEqual([path])
  expect(fitted('  Try: gpunvme nvme trace --format jsonl -o FILE VERB, which creates a trace', 60)).toEqual([
    '  Try: gpunvme nvme trace --format jsonl -o FILE VERB, which',
    '    creates a trace',
  ])
  expect(fitted('  Try: gpunvme bind ADDRESS --dry-run --root ../copy, which prints the steps', 52)).toEqual([
    '  Try:',
    '    gpunvme bind ADDRESS --dry-run --root ../copy,',
    '    which prints the steps',
  ])
  expect(fitted('Not in use. Next: sudo env "PATH=$PATH" gpunvme bind 0000:0b:00.0 --yes', 50)).toEqual([
    'Not in use. Next:',
    '  sudo env "PATH=$PATH" gpunvme bind 0000:0b:00.0 --yes',
  ])
})

test('fitHelp folds paragraphs again for a narrow terminal', () => {
  const help = [
    'Read-only. A drive that is bound to the nvme driver of Linux, mounted or not, is',
    'queried through that driver.',
    '',
    'Options:',
    '  --json  print the result as one JSON object, whose shape is in the reference',
    '',
  ].join('\n')
  expect(fitHelp(help, 80, 'gpunvme')).toBe(help)
  expect(fitHelp(help, 60, 'gpunvme').split('\n')).toEqual([
    'Read-only. A drive that is bound to the nvme driver of',
    'Linux, mounted or not, is queried through that driver.',
    '',
    'Options:',
    '  --json  print the result as one JSON object, whose shape',
    '          is in the reference',
    '',
  ])
})
