import { PassThrough } from 'node:stream'
import { WriteStream } from 'node:tty'
import { afterEach, expect, test, vi } from 'vitest'
import { emphasise } from './emphasis.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** Returns what a terminal or a pipe gets with these variables, with escape sequences as '<36>'. */
function seen(lines: string[], isTTY: boolean, env: Readonly<Record<string, string | undefined>> = {}): string[] {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS']) vi.stubEnv(name, env[name])
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    // Without the variables of a CI system, which has no colours.
    getColorDepth: () => WriteStream.prototype.getColorDepth({ TERM: 'xterm-256color', ...env }),
  })
  return emphasise(lines, stream).map((line) => line.replaceAll('\u001b[', '<').replaceAll(/(<\d+)m/g, '$1>'))
}

test('a terminal gets the verdict, what is blocked and the next command in colour', () => {
  expect(seen(['Does not work: no NVMe drive.', 'Works after 1 step: S', 'Works: S'], true)).toEqual([
    '<31>Does not work:<39> no NVMe drive.',
    '<33>Works after 1 step:<39> S',
    '<32>Works:<39> S',
  ])
  expect(seen(['  In use: swap. Next: gpunvme list', '  Free. Next:', '  gpunvme bind nvme0'], true)).toEqual([
    '  <33>In use:<39> swap. <36>Next: gpunvme list<39>',
    '  Free. <36>Next:<39>',
    '  <36>gpunvme bind nvme0<39>',
  ])
})

test('pipes and NO_COLOR get plain text, and FORCE_COLOR colours a pipe', () => {
  const lines = ['Next: gpunvme demo']
  expect(seen(lines, false)).toEqual(lines)
  expect(seen(lines, true, { NO_COLOR: '1' })).toEqual(lines)
  expect(seen(lines, false, { FORCE_COLOR: '1' })).toEqual(['<36>Next: gpunvme demo<39>'])
})
