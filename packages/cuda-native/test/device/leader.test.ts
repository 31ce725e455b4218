import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

describe.skipIf(!hasCompiler)(`a leader${skippedWithoutCompiler}`, () => {
  let cases: Program
  let schedules: Program
  beforeAll(async () => {
    cases = await program('device/cases')
    schedules = await program('device/schedules')
  }, BUILD_MS)

  test.each([
    ['goes on after an error: the queue pair is usable, over many laps', 'error_then_usable'],
    ['flushes without data and without a range', 'flush'],
    ['gives up the command that is late, no other, and submits no more', 'timeout_while_others_complete'],
    ['credits a late completion while its plan is waited for', 'late_before_the_plan_ends'],
    ['counts a later one, and has its slot again', 'late_after_the_plan_ended'],
    ['keeps deadlines under a constant flow of completions', 'deadline_under_constant_flow'],
    ['gives up everything when the device is lost', 'control_lost'],
    ['submits nothing more when it is halted, and waits for what is in flight', 'control_halt'],
    ['submits nothing of what was cancelled before', 'cancel_before_it_is_served'],
    ['submits no more of what is cancelled meanwhile', 'cancel_while_it_is_served'],
    ['completes what is cancelled after it was submitted', 'cancel_after_it_was_submitted'],
    ['takes as many shares as there is room for, again and again', 'shares_ring_full'],
    ['misses no share that is posted while it ends', 'post_while_it_ends'],
    ['lingers from its last command on', 'linger_from_the_last_command'],
    ['that is persistent has a heartbeat, and ends when it is told to', 'stop_ends_a_persistent_leader'],
    ['ends at its run limit, and continues in its next launch', 'run_limit'],
    ['ends with commands in flight at its run limit and after a pause', 'unanswered_at_run_limit'],
    ['credits nobody with completions of nobody: twice, unknown, of another queue', 'strays'],
    ['goes on where completions have room for one', 'completion_queue_of_two'],
    ['announces a batch by one doorbell', 'doorbells_of_a_batch'],
  ])('%s', async (_, name) => {
    expect(await cases.run([name])).toBe(`${name}\n`)
  })

  test(
    'of a grid ends when all leaders are idle, and serves every plan',
    async () => {
      const grid = await program('device/grid')
      expect(Number(await grid.run(['1', '60']))).toBeGreaterThan(600)
    },
    BUILD_MS,
  )

  test('gives every command its outcome in 7500 schedules of leader, controller and host', async () => {
    expect(Number(await schedules.run(['1', '1500']))).toBeGreaterThan(60_000)
  }, 60_000)
})
