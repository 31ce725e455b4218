import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { textsOf } from '../../test/diagnostics.js'
import { simulate, type Diagnostic } from '../index.js'

/** Returns the diagnostics and faults of a simulation with one injected fault and one host error. */
function run() {
  const { diagnostics, faults, transport } = simulate({
    faults: { rules: [{ match: { register: 'CSTS' }, action: { kind: 'read-value', value: 3 } }] },
  })
  transport.bar.write32(0x08, 1)
  transport.bar.read32(0x1c)
  return { diagnostics, faults }
}

it('diagnostics and faults taken before a run show its results', () => {
  const { diagnostics, faults } = run()
  expect(textsOf(diagnostics)).toEqual(['host wrote 0x1 to VS, which is read-only'])
  expect(faults).toEqual({ hits: [1], injected: [{ atNs: 0, rule: 0, kind: 'read-value', where: 'read CSTS' }] })
})

it('prints as plain data', () => {
  const { diagnostics, faults } = run()
  expect(inspect(diagnostics)).toBe(
    "[\n  {\n    code: 'register-access',\n    timeNs: 0,\n    text: 'host wrote 0x1 to VS, which is read-only'\n  }\n]",
  )
  expect(inspect(faults)).toBe(
    "{\n  hits: [ 1 ],\n  injected: [ { atNs: 0, rule: 0, kind: 'read-value', where: 'read CSTS' } ]\n}",
  )
})

it('is read-only for the caller', () => {
  const { diagnostics, faults } = run()
  const refused = /this list is read-only: copy it to change it/
  expect(() => (diagnostics as Diagnostic[]).pop()).toThrow(refused)
  expect(() => ((diagnostics as Diagnostic[]).length = 0)).toThrow(refused)
  expect(() => ((diagnostics[0] as { text: string }).text = 'mine')).toThrow(TypeError)
  expect(() => ((faults.hits as number[])[0] = 0)).toThrow(refused)
  expect(() => ((faults.injected[0] as { rule: number }).rule = 7)).toThrow(TypeError)
  expect(() => ((faults as { hits: readonly number[] }).hits = [])).toThrow(TypeError)
  expect([...textsOf(diagnostics), ...faults.hits]).toEqual(['host wrote 0x1 to VS, which is read-only', 1])
})
