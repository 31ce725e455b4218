import { expect, test } from 'vitest'
import { shownCommand } from './shown-command.js'

test('shownCommand omits folders and serial numbers', () => {
  const typed = [
    'bench',
    '--image',
    '/secret/place/drive.img',
    '--serial',
    'S5GXNF0R',
    '--report=/secret/out.html',
    '-o',
    'a.json',
  ]
  expect(shownCommand(typed)).toBe('gpunvme bench --image drive.img --serial ... --report=out.html -o a.json')
  expect(shownCommand(['bench', '--serial=S5GXNF0R', '--yes'])).toBe('gpunvme bench --serial=... --yes')
})

test('shownCommand has at most 1000 characters', () => {
  expect(shownCommand(['x'.repeat(5000)])).toHaveLength(1000)
})
