import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { Root } from './root.js'

let folder = ''
let root: Root
beforeEach(() => {
  folder = scratch()
  mkdirSync(join(folder, 'machine/sys/devices/a'), { recursive: true })
  root = new Root(join(folder, 'machine'))
})

function file(path: string, text: string): void {
  writeFileSync(join(folder, 'machine', path), text)
}

function link(path: string, to: string): void {
  symlinkSync(to, join(folder, 'machine', path))
}

describe('Root', () => {
  test('reads texts, numbers, names and links', async () => {
    file('sys/devices/a/vendor', '0x10de\n')
    link('sys/devices/a/driver', '../../bus/pci/drivers/nvme')
    expect(await root.text('sys/devices/a/vendor')).toBe('0x10de')
    expect(await root.number('sys/devices/a/vendor')).toBe(0x10de)
    expect(await root.list('sys/devices/a')).toEqual(['driver', 'vendor'])
    expect(await root.linkName('sys/devices/a/driver')).toBe('nvme')
    expect(await root.number('sys/devices/a/driver')).toBeUndefined()
  })

  test('Root does not follow absolute links or .. out of the tree', async () => {
    writeFileSync(join(folder, 'secret'), 'secret')
    link('absolute', join(folder, 'secret'))
    link('climbing', '../../../../../../../../..' + join(folder, 'secret'))
    link('sideways', '../secret')
    expect(await root.text('absolute')).toBeUndefined()
    expect(await root.text('climbing')).toBeUndefined()
    expect(await root.text('sideways')).toBeUndefined()
    expect(await root.text('../secret')).toBeUndefined()
  })

  test('resolves an absolute link from the root of the tree', async () => {
    file('sys/value', '7')
    link('value', '/sys/value')
    expect(await root.number('value')).toBe(7)
    expect(root.resolve('value')).toBe('sys/value')
  })

  test('Root does not follow cyclic links', async () => {
    link('a', 'b')
    link('b', 'a')
    expect(await root.text('a')).toBeUndefined()
  })

  test('Root does not read pipes and files that are too large', async () => {
    execFileSync('mkfifo', [join(folder, 'machine/pipe')])
    file('large', 'x'.repeat(1001))
    expect(await root.text('pipe')).toBeUndefined()
    expect(root.why('pipe')).toEqual({ unknown: '/pipe cannot be read: not a regular file' })
    expect(await root.bytes('large', 1000)).toBeUndefined()
    expect(await root.bytes('large', 1001)).toHaveLength(1001)
  }, 20_000)

  test('returns the reason for a missing file', async () => {
    expect(await root.text('sys/nothing')).toBeUndefined()
    expect(root.why('sys/nothing')).toEqual({ unknown: 'there is no /sys/nothing' })
  })
})
