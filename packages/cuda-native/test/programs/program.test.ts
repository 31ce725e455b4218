import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { hasCompiler, programOf, skippedWithoutCompiler } from './program.js'

const folder = scratch()

function source(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe.skipIf(!hasCompiler)(`native programs of tests${skippedWithoutCompiler}`, () => {
  test('run with arguments and input; their exit status, stdout and stderr are returned', async () => {
    const path = source(
      'echo.cc',
      `#include <stdio.h>
       int main(int count, char** args) {
         printf("%d %s %d\\n", count, args[1], getchar());
         fprintf(stderr, "error\\n");
         return 7;
       }`,
    )
    const program = await programOf(path)
    const input = Buffer.from('A')
    const ended = { status: 7, signal: null, stdout: '2 one 65\n', stderr: 'error\n' }
    expect(await program.attempt(['one'], { input })).toEqual(ended)
    await expect(program.run(['one'], { input })).rejects.toThrow(/echo.cc ended with 7\n2 one 65\nerror/)
  })

  test('are killed at their time limit', async () => {
    const program = await programOf(source('forever.cc', 'int main() { for (volatile int i = 0;;) i = i; }'))
    await expect(program.attempt([], { timeoutMs: 50 })).rejects.toThrow(/did not end within 50 ms/)
  })

  test('are rejected for a warning of the compiler', async () => {
    await expect(programOf(source('warns.cc', 'int main() { int unused; }'))).rejects.toThrow(/unused/)
  })
})
