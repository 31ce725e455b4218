import { describe, expect, test } from 'vitest'
import { sanitized } from '../device/bytes.js'
import { hasCompiler, skippedWithoutCompiler, useCompiler, type Change } from '../device/compile.js'
import { reserveHugePages } from '../huge-pages.js'

const { compile } = useCompiler()
const sources = ['test/foreign/foreign_test.cc', 'native/foreign.cc', 'native/region.cc']
const ROUNDS = '300'
const seeds = ['1', '2', '3']

/** ThreadSanitizer takes `mmap` for a store to all of it, and so for a race with those who come to the same page. */
const forThreadSanitizer: readonly Change[] = [
  {
    path: 'native/foreign.cc',
    from: 'mmap(start, size, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED',
    to: 'syscall(SYS_mmap, start, size, PROT_READ | PROT_WRITE, flags, -1, 0) != -1',
  },
  {
    path: 'native/foreign.cc',
    from: '#include <sys/mman.h>',
    to: '#include <sys/mman.h>\n#include <sys/syscall.h>\n#include <unistd.h>',
  },
]

describe.skipIf(!hasCompiler)(`files that are cut short while threads access them${skippedWithoutCompiler}`, () => {
  test.each([
    ['as it is', [], []],
    ['under ThreadSanitizer', ['-O1', '-fsanitize=thread'], forThreadSanitizer],
    ['with all memory watched', sanitized, []],
  ])(
    'read as zeroes, and nothing beside them changes, %s',
    async (_, flags, changes) => {
      const program = await compile({ sources, flags, changes })
      using pages = reserveHugePages(2)
      const stdout = pages === undefined ? /^with(out)? huge pages$/m : /^with huge pages$/m
      for (const seed of seeds) {
        expect(await program.attempt([seed, ROUNDS], { timeoutMs: 120_000 })).toMatchObject({
          ...{ status: 0, signal: null, stderr: '' },
          stdout: expect.stringMatching(stdout) as string,
        })
      }
    },
    300_000,
  )

  const planted: readonly [string, Change][] = [
    [
      'a guard that outlives its mapping',
      {
        path: 'native/region.cc',
        from: '  if (region->foreign != nullptr) ForgetForeign(region->foreign);\n',
        to: '',
      },
    ],
    [
      'a handler that keeps what is not its own',
      { path: 'native/foreign.cc', from: 'if (!isReplaced) PassOn', to: 'if (!isReplaced && error < 0) PassOn' },
    ],
    [
      'all from the beginning replaced, where one page is lost',
      { path: 'native/foreign.cc', from: '(address - base) / page * page', to: '(address - base) / length * page' },
    ],
    [
      'a page more than the mapping has',
      { path: 'native/foreign.cc', from: '? page : length - offset', to: '? page + 4096 : length - offset' },
    ],
  ]
  test.each(planted)(
    'are found out, %s',
    async (_, change) => {
      const program = await compile({ sources, changes: [change] })
      // Where the access is tried again and again, it does not end by itself.
      const outcome = program.attempt(['1', '20'], { timeoutMs: 5000 }).then(({ status }) => status ?? 'signal')
      await expect(outcome.catch(() => 'late')).resolves.not.toBe(0)
    },
    300_000,
  )
})
