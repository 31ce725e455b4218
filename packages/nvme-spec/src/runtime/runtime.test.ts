import { runInNewContext } from 'node:vm'
import { channel } from 'node:diagnostics_channel'
import { afterEach, expect, it, vi } from 'vitest'
import { diagnosticsChannel } from './diagnostics-channel.js'
import { nextTurn } from './next-turn.js'
import { nodeModule, NodeRequiredError, optionalNodeModule } from './node-module.js'

afterEach(() => void vi.unstubAllGlobals())

it('returns the modules of Node in Node', () => {
  expect(nodeModule('node:vm')).toMatchObject({ runInNewContext })
  expect(diagnosticsChannel('gpunvme:test')).toBe(channel('gpunvme:test'))
})

it('rejects a module that the runtime does not provide, and names it', () => {
  expect(optionalNodeModule('node:no_such_module')).toBeUndefined()
  expect(() => nodeModule('node:no_such_module')).toThrow(NodeRequiredError)
  expect(() => nodeModule('node:no_such_module')).toThrow('requires node:no_such_module')
})

it.each(['setImmediate', 'a message'])('lets pending promises run before the next turn, by %s', async (by) => {
  if (by === 'a message') vi.stubGlobal('setImmediate', undefined)
  const order: string[] = []
  const turn = nextTurn().then(() => order.push('turn'))
  await Promise.resolve().then(() => Promise.resolve().then(() => order.push('promises')))
  await turn
  expect(order).toEqual(['promises', 'turn'])
})
