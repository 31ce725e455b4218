import { expect, test } from 'vitest'
import { commandFor, requireRoot, shellLine } from '../command-line/advised-command.js'
import { ago } from './describe-status.js'
import { describeSteps } from './describe-steps.js'

test('a command is printed as a shell takes it, with the root that it was given', () => {
  expect(commandFor('/', 'unbind', '0000:0b:00.0')).toBe('gpunvme unbind 0000:0b:00.0')
  expect(commandFor('/a b', 'status')).toBe("gpunvme status --root '/a b'")
  expect(shellLine(['echo', "it's", '', '$HOME'])).toBe("echo 'it'\\''s' '' '$HOME'")
})

test('a step is printed as a shell takes it, folded where the terminal ends', () => {
  const step = { name: 'reset driver_override', path: '/sys/bus/pci/devices/0000:0b:00.0/driver_override', text: '\n' }
  expect(describeSteps([step], Infinity)).toEqual([
    '  # reset driver_override',
    '  echo > /sys/bus/pci/devices/0000:0b:00.0/driver_override',
  ])
  expect(describeSteps([step], 20).length).toBeGreaterThan(2)
})

test('a time is told in the largest unit of which there is one', () => {
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

test('who is not root is told what to type, where the machine is this one', () => {
  const uid = process.getuid
  process.getuid = () => 1000
  try {
    expect(() => requireRoot('/', ['bind', 'nvme0', '--serial', 'A B'])).toThrow(
      `Only root may change the driver of a drive\n  Try: sudo env "PATH=$PATH" gpunvme bind nvme0 --serial 'A B'`,
    )
    expect(() => requireRoot('/tmp/tree', ['bind'])).not.toThrow()
  } finally {
    if (uid !== undefined) process.getuid = uid
  }
})
