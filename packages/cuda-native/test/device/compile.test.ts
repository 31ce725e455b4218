import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasCompiler, skippedWithoutCompiler, useCompiler } from './compile.js'

const programs = useCompiler()
const { compile } = programs

function source(name: string, text: string): string {
  const path = join(programs.folder, name)
  writeFileSync(path, text)
  return path
}

describe.skipIf(!hasCompiler)(`programs of tests${skippedWithoutCompiler}`, () => {
  test('run with arguments and input, and say how they ended', async () => {
    const program = await compile({
      sources: [
        source(
          'echo.cc',
          `#include <stdio.h>
           int main(int count, char** args) {
             int c, sum = 0;
             while ((c = getchar()) != EOF) sum += c;
             printf("%d %s %d\\n", count, args[1], sum);
             fprintf(stderr, "said\\n");
             return sum;
           }`,
        ),
      ],
    })
    expect(await program.run(['one'])).toBe('2 one 0\n')
    expect(await program.attempt(['one'], { input: Buffer.from([3, 4]) })).toEqual({
      status: 7,
      signal: null,
      stdout: '2 one 7\n',
      stderr: 'said\n',
    })
    await expect(program.run(['one'], { input: Buffer.from([3]) })).rejects.toThrow(
      /echo.cc ended with 3\n2 one 3\nsaid/,
    )
  })

  test('that do not end are killed', async () => {
    const program = await compile({
      sources: [source('forever.cc', 'int main() { for (volatile int i = 0;;) i = i; }')],
    })
    await expect(program.attempt([], { timeoutMs: 50 })).rejects.toThrow(/did not end within 50 ms/)
  })

  test('do not compile with a warning', async () => {
    await expect(compile({ sources: [source('warns.cc', 'int main() { int unused; }')] })).rejects.toThrow(/unused/)
  })

  test('are changed in exactly one place, in a copy', async () => {
    const sources = [source('uses.cc', '#include "target.cuh"\nint main() { return sizeof(gpunvme::Quad); }')]
    const change = { path: 'cuda/target.cuh', from: 'uint32_t word[4];', to: 'uint32_t word[8];' }
    expect((await (await compile({ sources, changes: [change] })).attempt()).status).toBe(32)
    expect((await (await compile({ sources })).attempt()).status).toBe(16)
    await expect(compile({ sources, changes: [{ ...change, from: 'uint32_t word[5];' }] })).rejects.toThrow(
      /cuda\/target.cuh: expected one place to change, got 0/,
    )
    await expect(compile({ sources, changes: [{ ...change, from: '#include' }] })).rejects.toThrow(/got 3/)
  })
})
