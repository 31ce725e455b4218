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
    ['continues after an error, over many laps of its queue', 'error_then_usable'],
    ['flushes', 'flush'],
    ['ends only the overdue command, and submits no more', 'timeout_while_others_complete'],
    ['counts late completions as stale, and does not reuse their slots', 'late_completions'],
    ['counts a completion that arrived in time, however late it polls', 'late_look'],
    ['keeps deadlines under a constant flow of completions', 'deadline_under_constant_flow'],
    ['ends all commands when the controller is lost', 'control_lost'],
    ['submits no more when it is halted, and awaits commands in flight', 'control_halt'],
    ['submits no command of a plan that is cancelled before it is served', 'cancel_before_it_is_served'],
    ['submits no more commands of a plan that is cancelled while it is served', 'cancel_while_it_is_served'],
    ['completes commands of a plan that is cancelled after they were submitted', 'cancel_after_it_was_submitted'],
    ['accepts a full ring of shares, repeatedly', 'shares_ring_full'],
    ['misses no share posted while it ends', 'post_while_it_ends'],
    ['lingers from its last command on', 'linger_from_the_last_command'],
    ['that is persistent has a heartbeat, and ends when stopped', 'stop_ends_a_persistent_leader'],
    ['ends at its run limit, and continues in its next launch', 'run_limit'],
    ['ends with commands in flight at its run limit and after a pause', 'unanswered_at_run_limit'],
    ['counts completions without a command: repeated, unknown, of another queue', 'strays'],
    ['serves a queue of two entries', 'queue_of_two'],
    ['rings one doorbell for a batch', 'doorbells_of_a_batch'],
    ['does not release completions on a poll that finds none', 'releases_in_batches'],
  ])('%s', async (_, name) => {
    expect(await cases.run([name])).toBe(`${name}\n`)
  })

  test(
    'as a warp serves every plan, in any order of lanes; leaders of a grid end when all are idle',
    async () => {
      const grid = await program('device/grid')
      const [commands, launches] = (await grid.run(['1', '16'])).split(' ').map(Number)
      expect(commands).toBeGreaterThan(5000)
      expect(launches).toBeGreaterThan(100)
      await (await program('device/grid-memory')).run(['1', '1', 'plans'])
    },
    BUILD_MS,
  )

  test('gives every command its outcome in 7500 schedules of leader, controller and host', async () => {
    expect(Number(await schedules.run(['1', '1500']))).toBeGreaterThan(60_000)
  }, 60_000)
})
