import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { WholeFile } from './whole-file.js'

let folder: string
const at = (name: string) => join(folder, name)

beforeEach(() => {
  folder = scratch()
})

test('publish replaces the old file, and leaves no temporary file', async () => {
  writeFileSync(at('x'), 'old')
  const file = new WholeFile(at('x'))
  await file.write(Buffer.from('new '))
  file.writeSync(Buffer.from('text'))
  expect(readFileSync(at('x'), 'utf8')).toBe('old')
  file.publish()
  file.discard()
  expect(readFileSync(at('x'), 'utf8')).toBe('new text')
  expect(readdirSync(folder)).toEqual(['x'])
})

test('discard keeps the old file, and leaves no temporary file', async () => {
  writeFileSync(at('x'), 'old')
  for (const name of ['x', 'y']) {
    const file = new WholeFile(at(name))
    await file.write(Buffer.from('new'))
    file.discard()
  }
  expect(readdirSync(folder)).toEqual(['x'])
  expect(readFileSync(at('x'), 'utf8')).toBe('old')
})

test('the temporary file has the mode of the old file from its creation', () => {
  const modeOf = (name: string) => statSync(at(name)).mode & 0o7777
  for (const mode of [0o600, 0o640, 0o755]) {
    writeFileSync(at('x'), 'old')
    chmodSync(at('x'), mode)
    const file = new WholeFile(at('x'))
    expect(modeOf(`.x.${process.pid}.partial`)).toBe(mode)
    file.writeSync(Buffer.from('new'))
    file.publish()
    expect([modeOf('x'), readFileSync(at('x'), 'utf8')]).toEqual([mode, 'new'])
  }
})

test('root keeps the owner of the old file', ({ skip }) => {
  if (process.getuid?.() !== 0) return skip('only root gives files away')
  writeFileSync(at('x'), 'old')
  chownSync(at('x'), 1234, 5678)
  const file = new WholeFile(at('x'))
  file.writeSync(Buffer.from('new'))
  file.publish()
  expect(statSync(at('x'))).toMatchObject({ uid: 1234, gid: 5678 })
})

test('a symbolic link is kept, and its target is replaced', () => {
  writeFileSync(at('target'), 'old')
  symlinkSync('target', at('link'))
  const file = new WholeFile(at('link'))
  file.writeSync(Buffer.from('new'))
  file.publish()
  expect(readFileSync(at('target'), 'utf8')).toBe('new')
  expect(readFileSync(at('link'), 'utf8')).toBe('new')
})

test('WholeFile rejects directories, devices and invalid paths, and creates nothing', () => {
  mkdirSync(at('folder'))
  expect(() => new WholeFile(at('folder'))).toThrow('is a directory')
  expect(() => new WholeFile('/dev/null')).toThrow('/dev/null is not a regular file')
  expect(() => new WholeFile('')).toThrow("Invalid file name: ''")
  expect(() => new WholeFile('-')).toThrow("Invalid file name: '-'")
  expect(() => new WholeFile(at('missing/x'))).toThrow('no such file or directory (ENOENT)')
  expect(() => new WholeFile(at('target/x'.padEnd(400, 'x')))).toThrow(/ENAMETOOLONG|ENOENT/)
  expect(existsSync('/dev/.null')).toBe(false)
  expect(readdirSync(folder)).toEqual(['folder'])
})
