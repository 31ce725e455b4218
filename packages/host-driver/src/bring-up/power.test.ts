import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { piecewiseAllocator, recordedSession, type RecordedCommand } from '../../test/recorded-session.js'
import type { CommandData } from '../commands/single-command.js'
import { Controller } from '../controller.js'
import { traced } from '../wrap/traced.js'
import { FullPower } from './power.js'

const MIB = 1024 * 1024
const INVALID_FIELD = 0x02
/** APSTA bit 0, and NPSS of five power states. */
const SLEEPY = { APSTA: { APTS: 1 }, NPSS: 4 } as never

/** A drive in power state 3 with workload hint 1, that goes to power state 4 after 100 ms of rest. */
function drive(refuse = -1) {
  let state = 0x23
  let enabled = 1
  const table = [0x0000_6420, 0]
  const answer = ({ name, values }: RecordedCommand, data?: CommandData): number => {
    const { FID, CDW11 } = values as { FID: number; CDW11?: number }
    if (FID === refuse) return -INVALID_FIELD
    if (name === 'Set Features') {
      if (FID === 0x02) state = CDW11!
      else {
        enabled = CDW11!
        table[0] = data!.memory.view!.getUint32(0, true)
      }
      return 0
    }
    if (FID === 0x02) return state
    data!.memory.view!.setUint32(0, table[0]!, true)
    return enabled
  }
  return { answer, now: () => ({ state, enabled, table: table[0] }), reset: () => void ([state, enabled] = [0x02, 0]) }
}

const sets = (commands: readonly RecordedCommand[]) =>
  commands.filter(({ name }) => name === 'Set Features').map(({ values }) => [values['FID'], values['CDW11']])

test('sets power state 0 without transitions while open, and restores the previous settings (Base 2.3 §5.2.26.1)', async () => {
  const { answer, now, reset } = drive()
  const { session, commands, events } = recordedSession(SLEEPY, piecewiseAllocator(MIB, MIB), answer)
  const step = new FullPower()
  await step.apply(session)
  expect(now()).toEqual({ state: 0x20, enabled: 0, table: 0x6420 })
  reset()
  await step.apply(session)
  expect(now()).toMatchObject({ state: 0x00, enabled: 0 })
  await step.undo(session)
  expect(now()).toEqual({ state: 0x23, enabled: 1, table: 0x6420 })
  expect(sets(commands).slice(-2)).toEqual([
    [0x0c, 1],
    [0x02, 0x23],
  ])
  expect(events).toEqual([])
})

test('sends nothing to a drive with one power state and no autonomous transitions', async () => {
  const { session, commands } = recordedSession({}, piecewiseAllocator(MIB, MIB))
  const step = new FullPower()
  await step.apply(session)
  await step.undo(session)
  expect(commands).toEqual([])
})

test.each([0x02, 0x0c])('reports the refusal of feature %i, and sets the other', async (fid) => {
  const { answer, now } = drive(fid)
  const { session, events } = recordedSession(SLEEPY, piecewiseAllocator(MIB, MIB), answer)
  const step = new FullPower()
  await step.apply(session)
  expect(now()).toMatchObject(fid === 0x02 ? { state: 0x23, enabled: 0 } : { state: 0x20, enabled: 1 })
  await step.undo(session)
  expect(now()).toMatchObject({ state: 0x23, enabled: 1 })
  expect(events).toMatchObject([{ kind: 'refused' }])
})

test.each([
  [{}, 1],
  [{ keepPowerState: true }, 0],
])('reads the current power state of a controller with several, unless it is to be kept: %o', async (options, gets) => {
  const simulation = simulate({ profile: deriveProfile('sn740', { identify: { NPSS: 4 as never } }) })
  const seen: string[] = []
  const transport = traced(simulation.transport, ({ name, command }) => {
    if (name === 'submit' && /^Get Features .*POWER_MANAGEMENT/.test(command?.text ?? '')) seen.push(name)
  })
  const ctrl = await Controller.open(transport, options)
  await ctrl.close()
  expect(seen).toHaveLength(gets)
  expect(simulation.diagnostics).toEqual([])
})
