import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

const servers = [
  ['a CPU thread', 'solo'],
  ['a warp', 'warp'],
] as const

describe.skipIf(!hasCompiler)(`a PatternDrive${skippedWithoutCompiler}`, () => {
  let drive: Program
  let completions: Program
  beforeAll(async () => {
    drive = await program('gpu-check/pattern-drive')
    completions = await program('gpu-check/pattern-completions')
  }, BUILD_MS)

  describe.each(servers)('served by %s', (_, server) => {
    test.each([
      ['detects a tail doorbell that is not an index of an entry', 'tail'],
      ['detects each bit of reserved fields and each other opcode', 'field'],
      ['detects another namespace identifier', 'nsid'],
      ['detects blocks beyond the namespace, and more blocks than a command may have', 'range'],
      ['detects each invalid PRP entry and moves no data (Base 2.1 §4.3.1)', 'prp'],
      ['detects the identifier of a command in flight', 'cid'],
      ['stores the pattern in the pages of a read and nowhere else', 'reads'],
      ['compares the data of a write with the pattern', 'writes'],
      ['completes Flush without an access to data', 'flush'],
      ['verifies entries if it moves no data', 'unmoved'],
    ])('%s', async (_, name) => {
      expect(await drive.run([server, name])).toBe('')
    })

    test.each([
      ['completes commands in order', 'ordered'],
      ['completes the commands of a round in reverse order', 'reversed'],
      ['delays completions by the rounds of its plan', 'delayed'],
      ['completes each command once while it delays every other one', 'interleaved'],
      ['completes commands twice by its plan', 'doubled'],
      ['never completes the commands that its plan loses', 'lost'],
      ['inverts the Phase Tag with each lap and reports the SQ head', 'laps'],
      ['fetches no more commands than it has stations', 'stations'],
      ['keeps completions back while the completion queue is full', 'full'],
      ['completes a command twice only with room for both', 'full_doubled'],
      ['counts commands, doorbells, completions, lost commands and mistakes', 'counts'],
    ])('%s', async (_, name) => {
      expect(await completions.run([server, name])).toBe('')
    })
  })
})
