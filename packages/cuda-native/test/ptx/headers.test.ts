import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasCompiler, skippedWithoutCompiler, useCompiler } from '../device/compile.js'

const { folder, build } = useCompiler()

/** Those for nvcc alone begin so; ports and teams of the CPU stand in for them. */
const headers = readdirSync(join(import.meta.dirname, '../../cuda')).filter((name) => /^(?!gpu_).*\.cuh$/.test(name))

// All that kernels.cu instantiates, on the CPU.
const kernels = `
#include "checksum.cuh"
#include "cpu_port.cuh"
#include "pattern.cuh"
#include "scatter.cuh"
#include "serve.cuh"
#include "solo_team.cuh"
#include "store32.cuh"
#include "warp_read.cuh"
using namespace gpunvme;
void all(Leader& leader, PatternVerdict* verdict, uint32_t* at) {
  serve<CpuPort>(leader, 1);
  warp_read<SoloTeam, CpuPort>(leader, 1);
  checksum<SoloTeam>({});
  scatter<SoloTeam>({});
  pattern_fill<SoloTeam>({});
  pattern_verify<SoloTeam>({}, verdict);
  store32<CpuPort>(at, 1);
}
`

/** Nothing calls it, and so nothing has to be there that it calls. */
const library = ['-O0', '-shared', '-fPIC']

function source(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe.skipIf(!hasCompiler)(`device code, for g++${skippedWithoutCompiler}`, () => {
  test.each(headers)('%s compiles as C++17 alone, without a warning', async (name) => {
    await build('nothing', { sources: [source(`${name}.cc`, `#include "${name}"\n`)], flags: library })
  })

  test('all kernels do, on the CPU; and would not with a warning', async () => {
    const sources = [source('kernels.cc', kernels)]
    await build('nothing', { sources, flags: library })
    const changes = [{ path: 'cuda/slots.cuh', from: 'uint32_t at = pair', to: 'int unused; uint32_t at = pair' }]
    await expect(build('nothing', { sources, flags: library, changes })).rejects.toThrow(/unused variable/)
  })
})
