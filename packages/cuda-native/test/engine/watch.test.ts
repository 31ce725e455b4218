import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sanitized } from '../device/bytes.js'
import { hasCompiler, skippedWithoutCompiler, useCompiler } from '../device/compile.js'

const { compile } = useCompiler()
const withoutNode = `-I${join(import.meta.dirname, 'without-node')}`

describe.skipIf(!hasCompiler)(`a session that watches its leaders${skippedWithoutCompiler}`, () => {
  test('counts the silence of each by itself, from its launch on, and launches none that is paused', async () => {
    const sources = ['test/engine/watch_test.cc', 'native/engine/session.cc']
    const program = await compile({ sources, flags: [withoutNode, ...sanitized] })
    expect(await program.attempt([])).toMatchObject({ status: 0, stderr: '' })
  }, 120_000)
})
