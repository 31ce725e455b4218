import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { FileError } from '../command-line/file-error.js'
import { ImageInUseError, usersOf, withImageAlone } from './image-users.js'

const folder = scratch()
const image = join(folder, 'drive.img')
writeFileSync(image, new Uint8Array(4096))

/** Lends a process that has the image open. */
async function withOther<T>(flags: 'r' | 'r+', use: (pid: number) => Promise<T>): Promise<T> {
  const script = `require('fs').openSync(${JSON.stringify(image)}, '${flags}'); console.log(); setInterval(() => {}, 1e6)`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(child.stdout, 'data')
    return await use(child.pid!)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

const lent = (access: 'read' | 'write', path = image) => withImageAlone(path, access, () => Promise.resolve('lent'))

test('an image that nobody else has open is lent', async () => {
  expect(await lent('read')).toBe('lent')
  expect(await lent('write')).toBe('lent')
  expect(await usersOf(image)).toEqual([])
})

test('one that another process writes to is refused with its number, under another name too', async () => {
  const link = join(folder, 'link.img')
  symlinkSync(image, link)
  await withOther('r+', async (pid) => {
    expect(await usersOf(image)).toEqual([{ pid, name: expect.any(String) as string, writes: true }])
    for (const path of [image, link]) {
      await expect(lent('write', path)).rejects.toThrow(ImageInUseError)
      await expect(lent('read', path)).rejects.toThrow(new RegExp(`process ${pid} \\(.*\\) writes to it`))
    }
  })
  expect(await lent('write')).toBe('lent')
})

test('one that another process reads can be read, and not be written to', async () => {
  await withOther('r', async (pid) => {
    expect(await lent('read')).toBe('lent')
    await expect(lent('write')).rejects.toThrow(new RegExp(`process ${pid} \\(.*\\) reads it`))
  })
})

test('a file that is not there is said to be that', async () => {
  await expect(lent('read', join(folder, 'none.img'))).rejects.toThrow(FileError)
})
