import { expect, test } from 'vitest'
import { invocationOf } from '../terminal/invocation.js'
import { renderStep, type CommandStep } from './next-step.js'

const NPX = { program: 'npx gpunvme', sudo: 'sudo env "PATH=$PATH" ' }

test('renderStep prints commands as the program was started, quoted for a shell', () => {
  expect(renderStep('leave it out', NPX)).toBe('leave it out')
  expect(renderStep({ command: ['list'], note: 'which shows the drives' }, NPX)).toBe(
    'npx gpunvme list, which shows the drives',
  )
  expect(renderStep({ command: ['load', '--image', 'a b.img'] }, NPX)).toBe("npx gpunvme load --image 'a b.img'")
  expect(renderStep(['--drive ADDRESS', { command: ['list'] }], NPX)).toBe('--drive ADDRESS; or npx gpunvme list')
  const packed = { first: { command: ['pack', 'm'] }, command: ['load'] }
  expect(renderStep(packed, NPX)).toBe('npx gpunvme pack m, then npx gpunvme load')
})

test.each([
  [['--image', 'a.img'], 'pack m.gguf --image a.img --replace', 'nvme log --image a.img'],
  [['--image=a.img'], 'pack m.gguf --image=a.img --replace', 'nvme log --image=a.img'],
  [['--drive', 'nvme0'], 'pack m.gguf --drive nvme0 --replace', 'nvme log --drive nvme0'],
  [['--sim'], 'pack m.gguf --image FILE --replace', 'nvme log --sim'],
  [['--profile', '990pro'], 'pack m.gguf --image FILE --replace', 'nvme log --profile 990pro'],
  [[], 'pack m.gguf --image FILE --replace', 'nvme log --drive ADDRESS'],
  [['--', '--image', 'a.img'], 'pack m.gguf --image FILE --replace', 'nvme log --drive ADDRESS'],
])('renderStep repeats the drive and the model file of the run: %j', (options, pack, log) => {
  const io = { env: { PATH: '/bin' }, program: '/bin/gpunvme', cwd: '/', isRoot: true }
  const invocation = invocationOf(io, ['load', 'm.gguf', ...options])
  expect(renderStep({ command: ['pack', 'MODEL', '--image', 'FILE', '--replace'] }, invocation)).toBe(`gpunvme ${pack}`)
  expect(renderStep({ command: ['nvme', 'log', '--drive', 'ADDRESS'] }, invocation)).toBe(`gpunvme ${log}`)
})

test('renderStep keeps MODEL if the run names no model file', () => {
  const io = { env: { PATH: '/bin' }, program: '/bin/gpunvme', cwd: '/', isRoot: true }
  for (const words of [
    ['load', 'chat'],
    ['load', 'https://host/m.gguf'],
    ['models', 'ls', '--image', 'm.gguf'],
  ])
    expect(renderStep({ command: ['pack', 'MODEL'] }, invocationOf(io, words))).toBe('gpunvme pack MODEL')
})

test('renderStep prints commands inside a phrase for their machine', () => {
  const there: CommandStep = { command: ['bind', 'nvme0'], isElsewhere: true }
  const words = ['sudo modprobe vfio-pci && ', there, ' (', { command: ['list'] }, ' shows it)']
  const text = 'sudo modprobe vfio-pci && sudo gpunvme bind nvme0 (npx gpunvme list shows it)'
  expect(renderStep({ words }, NPX)).toBe(text)
  expect(renderStep({ words, isElsewhere: true }, NPX)).toBe(`on that machine: ${text}`)
})

test('renderStep without an invocation prints commands of the installed program', () => {
  expect(renderStep({ command: ['bind', 'nvme0'] })).toBe('gpunvme bind nvme0')
})

test.each([
  [['bind', 'nvme0'], true],
  [['unbind', '--all'], true],
  [['driver', 'apply', 'pfn-lookup'], true],
  [['driver', 'revert', 'pfn-lookup'], true],
  [['bench', '--hand-over', '--drive', 'nvme0'], true],
  [['bind', 'nvme0', '--dry-run'], false],
  [['unbind', 'nvme0', '--root', 'copy'], false],
  [['driver', 'plan'], false],
  [['list'], false],
])('renderStep adds sudo to commands that change drivers only: %s', (command, isRoot) => {
  const line = `npx gpunvme ${command.join(' ')}`
  expect(renderStep({ command }, NPX)).toBe(isRoot ? `sudo env "PATH=$PATH" ${line}` : line)
})

test('renderStep marks a command for a copied machine, and ignores the invocation', () => {
  const command = ['bind', 'nvme0']
  expect(renderStep({ command, isElsewhere: true }, NPX)).toBe('on that machine: sudo gpunvme bind nvme0')
})
