import { beforeAll, describe, expect, test } from 'vitest'
import { sanitized } from './bytes.js'
import { hasCompiler, skippedWithoutCompiler, useCompiler, type Change, type Program } from './compile.js'

const { compile } = useCompiler()
const sources = { cases: ['test/device/cases_test.cc'], schedules: ['test/device/schedules_test.cc'] }

describe.skipIf(!hasCompiler)(`a leader${skippedWithoutCompiler}`, () => {
  let cases: Program
  let schedules: Program
  beforeAll(async () => {
    cases = await compile({ sources: sources.cases, flags: sanitized })
    schedules = await compile({ sources: sources.schedules, flags: ['-O1'] })
  }, 180_000)

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
    ['credits nobody with completions of nobody: twice, unknown, of another queue', 'strays'],
    ['goes on where completions have room for one', 'completion_queue_of_two'],
    ['announces a batch by one doorbell', 'doorbells_of_a_batch'],
    ['does a single command for a program of the GPU, between plans', 'block_io_between_plans'],
    ['gives up a single command by its deadline', 'block_io_without_an_answer'],
  ])('%s', async (_, name) => {
    expect(await cases.run([name])).toBe(`${name}\n`)
  })

  test('gives every command its outcome in 2500 schedules of leader, controller and host', async () => {
    expect(Number(await schedules.run(['1', '500']))).toBeGreaterThan(20_000)
  }, 60_000)
})

/** Known bugs first: the ones that systems before had. */
const bugs: readonly [string, keyof typeof sources, RegExp, Omit<Change, 'path'> & { in: string }][] = [
  [
    'a completion is credited to the command in its slot, whichever that is',
    'schedules',
    /outcome 0x[\da-f]+: (another's CID|no such completion|not its data)/,
    { in: 'complete', from: ' && cid_of(pair, slot, place.generation) == cid) {', to: ') {' },
  ],
  [
    'a completion is credited to the first queue',
    'schedules',
    /./,
    { in: 'complete', from: 'leader.pairs[index].qid != sqid', to: 'leader.pairs[index].qid != sqid && sqid > 99' },
  ],
  [
    'the CQ head doorbell is not rung, over laps',
    'schedules',
    /no end in sight/,
    { in: 'submit', from: '  Port::mmio_store32(leader.head_doorbell, leader.cq_head);\n', to: '' },
  ],
  [
    'a slot is used again while its command is in flight',
    'schedules',
    /of a command in flight|no end in sight/,
    { in: 'slots', from: 'pair.free_slots[at] = slot;', to: 'pair.free_slots[at] = (slot + 1) % pair.slot_count;' },
  ],
  ['the phase does not flip', 'schedules', /./, { in: 'complete', from: 'leader.phase ^= 1', to: 'leader.phase ^= 0' }],
  ['a slot keeps its generation', 'schedules', /./, { in: 'complete', from: '    place.generation++;\n', to: '' }],
  [
    'a slot is free when its command is given up',
    'cases',
    /./,
    { in: 'slots', from: '.owner = Owner::ABANDONED;', to: '.owner = Owner::ABANDONED; free_slot(pair, slot);' },
  ],
  [
    'a share is done before its last outcome is there',
    'schedules',
    /it ought to have been submitted/,
    {
      in: 'submit',
      from: 'Port::store_release64(&pair.shares[number % SHARES].done, 1)',
      to: 'Port::store_relaxed64(&pair.shares[number % SHARES].done, 1)',
    },
  ],
  [
    'a share is done while its commands are in flight',
    'schedules',
    /./,
    { in: 'submit', from: '!active.closed || active.in_flight > 0 ||', to: '!active.closed ||' },
  ],
  [
    'a late completion writes to a plan that has ended',
    'schedules',
    /an outcome changed after it was done/,
    {
      in: 'complete',
      from: 'if (!active.done && pair.taken - place.share <= SHARES) tell',
      to: 'if (active.share.count > 0) tell',
    },
  ],
  [
    'what was cancelled is submitted all the same',
    'cases',
    /./,
    { in: 'submit', from: 'leader.halted || active.share.cancelled != 0 ?', to: 'leader.halted ?' },
  ],
  [
    'a leader that is halted goes on',
    'schedules',
    /./,
    { in: 'submit', from: 'leader.halted || active.share.cancelled != 0 ?', to: 'active.share.cancelled != 0 ?' },
  ],
  [
    'the host learns of it after it learned that the share is done',
    'schedules',
    /not yet that the leader is halted/,
    { in: 'complete', from: '      Port::store_relaxed64(&leader.report->halted, 1);\n', to: '' },
  ],
  [
    'a leader ends while commands are in flight',
    'cases',
    /the leader ended with \d+ commands in flight/,
    {
      in: 'serve',
      from: 'leader.linger_ns) break;\n      }',
      to: 'leader.linger_ns) break;\n      }\n      if (leader.stopping) break;',
    },
  ],
  [
    'the host is woken before a leader has ended, not after',
    'schedules',
    /no end in sight/,
    {
      in: 'serve',
      from: 'Port::store_release64(&leader.report->ended, launch);\n  Port::wake_host(leader.context);',
      to: 'Port::wake_host(leader.context);\n  Port::store_release64(&leader.report->ended, launch);',
    },
  ],
  [
    'a doorbell is rung before its entries are there',
    'schedules',
    /./,
    { in: 'submit', from: '  Port::fence();\n', to: '' },
  ],
  [
    'time is looked at only where nothing completes',
    'cases',
    /0 not submitted/,
    { in: 'serve', from: 'if (look_at_clock || turn % TURNS_BETWEEN_CLOCKS == 0)', to: 'if (look_at_clock)' },
  ],
  [
    'what came before the clock was read is late',
    'cases',
    /late_after_the_plan_ended/,
    { in: 'serve', from: 'expired_ns = now_ns;', to: 'give_up<Port>(leader, Ending::TIMEOUT, now_ns);' },
  ],
]

describe.skipIf(!hasCompiler)(`bugs in a leader are found${skippedWithoutCompiler}`, () => {
  test.each(bugs)(
    '%s',
    async (_, program, reason, { in: file, ...change }) => {
      const changes = [{ path: `cuda/${file}.cuh`, ...change }]
      const changed = await compile({ sources: sources[program], flags: ['-O0', '-g0'], changes })
      const args = program === 'schedules' ? ['1', '1500'] : []
      const { status, stderr } = await changed.attempt(args)
      expect(status).toBe(1)
      expect(stderr).toMatch(program === 'schedules' ? /to see it again: schedules_test \d+ 1 \w+/ : /case \w+/)
      expect(stderr).toMatch(reason)
    },
    60_000,
  )
})
