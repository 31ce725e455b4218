import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const packageRoot = join(import.meta.dirname, '..', '..')

function gen(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/gen.mjs', ...args], {
    cwd: packageRoot,
    encoding: 'utf8',
  })
  return { status, stderr }
}

test('what is generated is what the declarations say (gen:check)', () => {
  expect(gen('--check')).toEqual({ status: 0, stderr: '' })
})

test('gen:check fails on a difference in any file, and names the command that writes them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-gen-'))
  const files = [
    'packages/nvme-spec/include/gpunvme/nvme_spec.h',
    'packages/nvme-spec/include/gpunvme/nvme_spec_check.c',
    'docs/spec-map.md',
  ]
  try {
    gen(folder)
    for (const file of files) {
      const path = join(folder, file)
      const right = readFileSync(path, 'utf8')
      writeFileSync(path, `${right} `)
      const { status, stderr } = gen('--check', folder)
      expect(status).toBe(1)
      expect(stderr).toContain(`${file} is not what the declarations say; run: pnpm gen`)
      writeFileSync(path, right)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
