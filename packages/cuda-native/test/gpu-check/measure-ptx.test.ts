import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { missingForC } from '../../../../test/c-compiler.js'
import { entryPoints, readKernels } from '../../gpu-check/src/kernels.js'

const script = join(import.meta.dirname, '../../scripts/build-ptx.mjs')

test('measure.ptx is built from the current sources', { timeout: 120_000 }, ({ skip }) => {
  // Without nvcc the script compares digests; nvcc itself needs g++ and its headers.
  const missing = spawnSync('nvcc', ['--version']).error ? undefined : missingForC('g++')
  if (missing !== undefined) return skip(missing)
  const { status, stderr } = spawnSync(process.execPath, [script, '--measure', '--check'], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test('the kernels of gpu-check have these names and numbers of parameters', () => {
  expect([...entryPoints(readKernels().measure)]).toEqual([
    ['gpunvme_original_read', 1],
    ['gpunvme_measure', 1],
    ['gpunvme_timer_steps', 1],
    ['gpunvme_ring', 2],
    ['gpunvme_block_chain', 1],
    ['gpunvme_block_threads', 1],
    ['gpunvme_queue_layout', 1],
    ['gpunvme_drive_serve', 2],
    ['gpunvme_drive_load', 2],
    ['gpunvme_ticket_load', 3],
    ['gpunvme_drive_end', 1],
    ['gpunvme_sum_pattern', 3],
    ['gpunvme_array_sum', 2],
    ['gpunvme_route_experts', 4],
    ['gpunvme_fetch_experts', 2],
    ['gpunvme_sum_experts', 2],
    ['gpunvme_sum_read', 2],
    ['gpunvme_verify_read', 2],
  ])
})
