import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { FileError } from '../command-line/file-error.js'
import { openTransport } from './by-name.js'
import { createImageFile } from './image-file.js'
import { claimImage, ImageInUseError, usersOf } from './image-users.js'

const folder = scratch()
const image = join(folder, 'drive.img')
writeFileSync(image, new Uint8Array(4096))

/** Runs `use` with a process that has the image open. */
async function withOther<T>(flags: 'r' | 'r+', use: (pid: number) => T | Promise<T>, path = image): Promise<T> {
  const script = `require('fs').openSync(${JSON.stringify(path)}, '${flags}'); console.log(); setInterval(() => {}, 1e6)`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(child.stdout, 'data')
    return await use(child.pid!)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

function openImage(access: 'read' | 'write', path = image): string {
  claimImage(path, access)()
  return 'opened'
}

test('claimImage opens an image without other users', () => {
  expect(openImage('read')).toBe('opened')
  expect(openImage('write')).toBe('opened')
  expect(usersOf(image)).toEqual([])
})

test('claimImage rejects an image that another process writes, also by a link', async () => {
  const link = join(folder, 'link.img')
  symlinkSync(image, link)
  await withOther('r+', (pid) => {
    expect(usersOf(image)).toEqual([{ pid, name: expect.any(String) as string, writes: true }])
    for (const path of [image, link]) {
      expect(() => openImage('write', path)).toThrow(ImageInUseError)
      expect(() => openImage('read', path)).toThrow(new RegExp(`process ${pid} \\(.*\\) writes to it`))
    }
  })
  expect(openImage('write')).toBe('opened')
})

test('claimImage allows reads of an image that another process reads, but no writes', async () => {
  await withOther('r', (pid) => {
    expect(openImage('read')).toBe('opened')
    expect(() => openImage('write')).toThrow(new RegExp(`process ${pid} \\(.*\\) reads it`))
  })
})

test('claimImage rejects a missing file', () => {
  expect(() => openImage('read', join(folder, 'none.img'))).toThrow(FileError)
})

test.each([{}, { realTime: true }])('a simulated drive %o claims its image', async (options) => {
  const open = async (readOnly: boolean) => (await openTransport('sim', { image, readOnly, ...options })).close()
  await withOther('r+', async () => {
    await expect(open(false)).rejects.toThrow(ImageInUseError)
    await expect(open(true)).rejects.toThrow(ImageInUseError)
  })
  await withOther('r', async () => {
    await open(true)
    await expect(open(false)).rejects.toThrow(ImageInUseError)
  })
  await open(false)
})

test('a new image file is not removed after a failure if another process has opened it', async () => {
  const path = join(folder, 'new.img')
  const remove = await createImageFile(path, 4096)
  await withOther('r+', remove, path)
  expect(existsSync(path)).toBe(true)
  remove()
  expect(existsSync(path)).toBe(false)
})
