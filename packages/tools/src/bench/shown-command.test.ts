import { expect, test } from 'vitest'
import { shownCommand } from './shown-command.js'

test('what was typed is shown without paths of this machine and without serial numbers', () => {
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

test('it is no longer than what results may hold', () => {
  expect(shownCommand(['x'.repeat(5000)])).toHaveLength(1000)
})
