import { existsSync, lstatSync, readdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { asSocketError, clearSocketPath, removeSocket, VfioUserSocketError } from './socket-path.js'

/** Called once, after the next lstatSync. */
const afterLook: { happens: (() => void) | undefined } = { happens: undefined }
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const lstatSync = (...parameters: Parameters<typeof fs.lstatSync>) => {
    const found = fs.lstatSync(...parameters)
    afterLook.happens?.()
    afterLook.happens = undefined
    return found
  }
  return { ...fs, lstatSync }
})

const folder = scratch()
const servers: Server[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve)))))

function listening(path: string): Promise<Server> {
  const server = createServer()
  servers.push(server)
  return new Promise((resolve) => server.listen(path, () => resolve(server)))
}

it('accepts a path that does not exist', async () => {
  await clearSocketPath(join(folder, 'new'))
})

it('removes a stale socket', async () => {
  const path = join(folder, 'stale')
  const server = await listening(path)
  // A killed process leaves its socket in the file system.
  const hidden = join(folder, 'hidden')
  symlinkSync(path, hidden)
  renameSync(path, `${path}.kept`)
  await new Promise((resolve) => server.close(resolve))
  servers.length = 0
  renameSync(`${path}.kept`, path)
  unlinkSync(hidden)
  expect(lstatSync(path).isSocket()).toBe(true)
  await clearSocketPath(path)
  expect(existsSync(path)).toBe(false)
})

it('rejects a socket on which another process listens, and keeps it', async () => {
  const path = join(folder, 'used')
  await listening(path)
  const error = await clearSocketPath(path).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(VfioUserSocketError)
  expect(error).toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_SOCKET', category: 'privilege', socket: path })
  expect(lstatSync(path).isSocket()).toBe(true)
})

it('rejects any other file, including a link to a socket, and keeps it', async () => {
  const path = join(folder, 'file')
  writeFileSync(path, 'mine')
  const link = join(folder, 'link')
  await listening(join(folder, 'target'))
  symlinkSync(join(folder, 'target'), link)
  for (const each of [path, link, folder]) {
    await expect(clearSocketPath(each)).rejects.toMatchObject({ category: 'usage' })
    expect(existsSync(each)).toBe(true)
  }
})

it.each([
  ['a missing directory', join(folder, 'none', 'socket'), 'not-found', /none is not a directory/],
  ['a file as its directory', join(folder, 'file', 'socket'), 'not-found', /file is not a directory/],
  ['more than 107 bytes', join(folder, 'x'.repeat(108)), 'usage', /expected a path of 1 to 107 bytes, got \d+/],
  ['no bytes', '', 'usage', /bytes, got 0/],
])('rejects a path with %s', async (_name, path, category, message) => {
  const error: unknown = await clearSocketPath(path).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ category, message: expect.stringMatching(message) as string })
})

it('asSocketError converts errors of bind and listen, and returns others unchanged', () => {
  const failed = (syscall: string, code: string) => Object.assign(new Error(`${code}: ${syscall}`), { syscall, code })
  expect(asSocketError(failed('bind', 'EADDRINUSE'), '/a')).toMatchObject({ category: 'privilege', socket: '/a' })
  expect(asSocketError(failed('bind', 'EACCES'), '/a')).toMatchObject({ category: 'privilege' })
  expect(asSocketError(failed('listen', 'EIO'), '/a')).toMatchObject({ category: 'failure' })
  const other = failed('open', 'ENOENT')
  expect(asSocketError(other, '/a')).toBe(other)
})

it('removeSocket removes its own socket, but not one that has replaced it', async () => {
  const path = join(folder, 'mine')
  await listening(path)
  const mine = lstatSync(path)
  unlinkSync(path)
  writeFileSync(join(folder, 'other'), 'keeps the inode number from being reused')
  await listening(path)
  removeSocket(path, mine)
  expect(existsSync(path)).toBe(mine.ino !== lstatSync(path, { throwIfNoEntry: false })?.ino)
  removeSocket(path, lstatSync(path))
  expect(existsSync(path)).toBe(false)
  removeSocket(path, mine)
})

it('removeSocket restores a socket that has replaced its own between the check and the removal', async () => {
  const path = join(folder, 'race')
  await listening(path)
  const stale = lstatSync(path)
  const fresh = join(folder, 'fresh')
  await listening(fresh)
  const { ino } = lstatSync(fresh)
  afterLook.happens = () => renameSync(fresh, path)
  removeSocket(path, stale)
  expect(lstatSync(path).ino).toBe(ino)
  await expect(clearSocketPath(path)).rejects.toMatchObject({ category: 'privilege' })
  expect(readdirSync(folder).filter((name) => name.startsWith('race'))).toEqual(['race'])
})

it('removeSocket accepts a socket that is already removed', async () => {
  const path = join(folder, 'gone')
  await listening(path)
  const stale = lstatSync(path)
  afterLook.happens = () => unlinkSync(path)
  removeSocket(path, stale)
  expect(existsSync(path)).toBe(false)
})
