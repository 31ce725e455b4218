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

/** Runs `use` with a process that has the image open. */
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

const openImage = (access: 'read' | 'write', path = image) =>
  withImageAlone(path, access, () => Promise.resolve('opened'))

test('withImageAlone opens an image without other users', async () => {
  expect(await openImage('read')).toBe('opened')
  expect(await openImage('write')).toBe('opened')
  expect(await usersOf(image)).toEqual([])
})

test('withImageAlone rejects an image that another process writes, also by a link', async () => {
  const link = join(folder, 'link.img')
  symlinkSync(image, link)
  await withOther('r+', async (pid) => {
    expect(await usersOf(image)).toEqual([{ pid, name: expect.any(String) as string, writes: true }])
    for (const path of [image, link]) {
      await expect(openImage('write', path)).rejects.toThrow(ImageInUseError)
      await expect(openImage('read', path)).rejects.toThrow(new RegExp(`process ${pid} \\(.*\\) writes to it`))
    }
  })
  expect(await openImage('write')).toBe('opened')
})

test('withImageAlone allows reads of an image that another process reads, but no writes', async () => {
  await withOther('r', async (pid) => {
    expect(await openImage('read')).toBe('opened')
    await expect(openImage('write')).rejects.toThrow(new RegExp(`process ${pid} \\(.*\\) reads it`))
  })
})

test('withImageAlone rejects a missing file', async () => {
  await expect(openImage('read', join(folder, 'none.img'))).rejects.toThrow(FileError)
})
