import { expect, test } from 'vitest'
import { testIo, testSession } from '../../test/gpunvme.js'
import { commandFor, requireRoot } from '../command-line/advised-command.js'
import { shellLine } from '../terminal/invocation.js'
import { ago } from '../list/drive-text.js'
import { describeSteps } from './describe-steps.js'

test('commandFor adds --root for a copy of a machine; shellLine quotes words', () => {
  expect(commandFor('/', 'unbind', '0000:0b:00.0')).toEqual({ command: ['unbind', '0000:0b:00.0'] })
  expect(commandFor('/a b', 'list')).toEqual({ command: ['list', '--root', '/a b'] })
  expect(shellLine(['echo', "it's", '', '$HOME'])).toBe("echo 'it'\\''s' '' '$HOME'")
})

test('describeSteps prints shell commands', () => {
  const step = { name: 'reset driver_override', path: '/sys/bus/pci/devices/0000:0b:00.0/driver_override', text: '\n' }
  expect(describeSteps([step])).toEqual([
    '  # reset driver_override',
    '  echo > /sys/bus/pci/devices/0000:0b:00.0/driver_override',
  ])
})

test('ago uses the largest unit that is at least 1', () => {
  const since = '2026-01-01T00:00:00.000Z'
  const after = (seconds: number) => ago(since, Date.parse(since) + seconds * 1000)
  expect([after(-5), after(59), after(60), after(3599), after(7200), after(86_400 * 3)]).toEqual([
    'just now',
    'just now',
    '1 min ago',
    '59 min ago',
    '2 h ago',
    '3 d ago',
  ])
})

test('requireRoot rejects changes of this machine without root, and suggests the command for root', () => {
  const words = ['bind', 'nvme0', '--serial', 'A B']
  const session = testSession(words, testIo({ isRoot: false }))
  expect(() => requireRoot('/', session)).toThrow(
    expect.objectContaining({
      headline: 'Only root may change the driver of a drive',
      step: { command: words, asRoot: true },
    }),
  )
  expect(() => requireRoot('/tmp/tree', session)).not.toThrow()
  expect(() => requireRoot('/', testSession(words, testIo({ isRoot: true })))).not.toThrow()
})
