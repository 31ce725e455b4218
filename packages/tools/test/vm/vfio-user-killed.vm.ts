import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runGuest, type GuestRun } from '../../../cuda-native/test/vm/guest.js'
import { kernelsFor } from './vfio-user/kernels.js'
import { guestOf, servedGuestParts } from './vfio-user/served-guest.js'

// SIGKILL of `gpunvme sim serve` while a guest writes: the image has everything that was synced before.

interface Safe {
  readonly name: string
  readonly sha256: string
}

const ENOUGH = 30
const BIN = join(import.meta.dirname, '../../bin/gpunvme.js')
const tools = spawnSync('/sbin/e2fsck', ['-V']).error ? '[mkfs] e2fsck is not installed' : undefined

describe.each(kernelsFor('6.1'))('a server that is killed under Linux %s', (series) => {
  const made = tools ?? servedGuestParts(series)
  if (typeof made === 'string') {
    test('a killed server of a vfio-user drive', ({ skip }) => skip(made))
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-killed-'))
  const image = join(folder, 'image')
  const safe: Safe[] = []
  let guest: GuestRun

  beforeAll(async () => {
    const socket = join(folder, 'socket')
    const options = ['--socket', socket, '--image', image, '--capacity', '64MiB', '--quiet']
    const server = spawn(process.execPath, [BIN, 'sim', 'serve', ...options], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const killed = once(server, 'exit')
    for (let tries = 0; tries < 600 && !existsSync(socket) && server.exitCode === null; tries++) await sleep(100)
    const ended = new AbortController()
    try {
      const guestOptions = {
        series,
        drives: [],
        parameters: { nvme_core: 'io_timeout=3 admin_timeout=3' },
        scenarios: [{ name: 'synced', script: 'synced', timeoutMs: 300_000 }],
        deadlineMs: 600_000,
        onLine(line: unknown) {
          safe.push(line as Safe)
          // After this, nothing is acknowledged by this server, and the guest is not needed.
          if (safe.length !== ENOUGH) return
          server.kill('SIGKILL')
          void killed.then(() => ended.abort())
        },
      }
      guest = await runGuest({ ...guestOf(guestOptions, made, [socket]), signal: ended.signal })
    } finally {
      server.kill('SIGKILL')
      await killed
    }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('the image contains every synced file completely after fsck', () => {
    expect(safe.length, guest.console).toBeGreaterThanOrEqual(ENOUGH)
    // Replays the journal, as mounting does. Exit code 1: this corrected the file system.
    const { status, stdout } = spawnSync('/sbin/e2fsck', ['-p', image], { encoding: 'utf8' })
    expect([0, 1], stdout).toContain(status)
    expect(execFileSync('/sbin/e2fsck', ['-fn', image], { encoding: 'utf8', stdio: 'pipe' })).toContain('Pass 5: ')
    for (const { name, sha256 } of safe) {
      const out = join(folder, name)
      execFileSync('/sbin/debugfs', ['-R', `dump /${name} ${out}`, image], { stdio: 'pipe' })
      expect([name, createHash('sha256').update(readFileSync(out)).digest('hex')]).toEqual([name, sha256])
    }
  })
})
