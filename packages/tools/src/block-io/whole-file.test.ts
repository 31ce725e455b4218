import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WholeFile } from './whole-file.js'

let folder: string
const at = (name: string) => join(folder, name)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpunvme-whole-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('what was there stays until the file is published, and nothing is left beside it', async () => {
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

test('a file that is discarded leaves nothing, and what was there', async () => {
  writeFileSync(at('x'), 'old')
  for (const name of ['x', 'y']) {
    const file = new WholeFile(at(name))
    await file.write(Buffer.from('new'))
    file.discard()
  }
  expect(readdirSync(folder)).toEqual(['x'])
  expect(readFileSync(at('x'), 'utf8')).toBe('old')
})

test('a link stays a link, and leads to the new contents', () => {
  writeFileSync(at('target'), 'old')
  symlinkSync('target', at('link'))
  const file = new WholeFile(at('link'))
  file.writeSync(Buffer.from('new'))
  file.publish()
  expect(readFileSync(at('target'), 'utf8')).toBe('new')
  expect(readFileSync(at('link'), 'utf8')).toBe('new')
})

test('a place where no regular file can go is refused, and nothing is made there', () => {
  mkdirSync(at('folder'))
  expect(() => new WholeFile(at('folder'))).toThrow('is a directory')
  expect(() => new WholeFile('/dev/null')).toThrow('/dev/null is not a regular file')
  expect(() => new WholeFile('')).toThrow("needs a name, got ''")
  expect(() => new WholeFile('-')).toThrow("needs a name, got '-'")
  expect(() => new WholeFile(at('missing/x'))).toThrow('no such file or directory (ENOENT)')
  expect(() => new WholeFile(at('target/x'.padEnd(400, 'x')))).toThrow(/ENAMETOOLONG|ENOENT/)
  expect(existsSync('/dev/.null')).toBe(false)
  expect(readdirSync(folder)).toEqual(['folder'])
})
