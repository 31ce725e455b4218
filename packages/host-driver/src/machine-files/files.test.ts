import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { MachineFileError } from './error.js'
import { MachineFiles } from './files.js'

let root = ''
let files: MachineFiles
beforeEach(() => {
  root = join(scratch(), 'machine')
  mkdirSync(join(root, 'sys/devices'), { recursive: true })
  files = new MachineFiles(root)
})

const file = (path: string, text: string) => writeFileSync(join(root, path), text)
const link = (path: string, to: string) => symlinkSync(to, join(root, path))

describe('in a copy of a machine', () => {
  test('an absolute link starts at the root of the copy', () => {
    file('sys/value', 'inside')
    link('link', '/sys/value')
    link('sys/devices/climbing', '../../../../../../sys/value')
    expect(files.text('link')).toBe('inside')
    expect(files.text('sys/devices/climbing')).toBe('inside')
    expect(files.resolve('sys/devices/climbing')).toBe(join(root, 'sys/value'))
  })

  test('neither a link nor .. leads outside', () => {
    writeFileSync(join(root, '../outside'), 'outside')
    link('relative', '../outside')
    link('absolute', join(root, '../outside'))
    link('folder', '/..')
    for (const path of ['relative', 'absolute', 'folder/outside', '../outside', 'sys/../../outside'])
      expect(() => files.text(path), path).toThrow('ENOENT')
    expect(files.list('folder').sort()).toEqual(['absolute', 'folder', 'relative', 'sys'])
    expect(files.exists('relative')).toBe(false)
  })

  test('follows 40 links and rejects the 41st, as Linux does', () => {
    file('value', 'inside')
    link('1', 'value')
    for (let index = 2; index <= 41; index++) link(`${index}`, `${index - 1}`)
    expect(files.text('40')).toBe('inside')
    expect(() => files.text('41')).toThrow(new MachineFileError('/41', 'more than 40 symbolic links'))
  })

  test('the target of a link is returned unresolved, and its folder is resolved', () => {
    link('sys/devices/driver', '../../drivers/nvme')
    link('alias', '/sys/devices')
    expect(files.link('alias/driver')).toBe('../../drivers/nvme')
  })
})

test('reads only regular files up to the limit', () => {
  file('value', 'x'.repeat(100))
  expect(files.bytes('value', 100)).toHaveLength(100)
  expect(() => files.bytes('value', 99)).toThrow(new MachineFileError(join(root, 'value'), 'more than 99 bytes'))
  expect(() => files.bytes('sys')).toThrow('not a regular file')
  expect(() => new MachineFiles('/').bytes('dev/zero')).toThrow('not a regular file')
})

test('reads files of this machine, whatever size they report, and leaves links of /proc to the kernel', () => {
  const live = new MachineFiles('/')
  expect(live.text('proc/self/status')).toContain(`Pid:\t${process.pid}\n`)
  expect(live.text('/proc/sys/kernel/random/boot_id')).toMatch(/^[0-9a-f-]{36}\n$/)
  expect(live.resolve('proc/self/fd/0')).toBe('/proc/self/fd/0')
})
