import { describe, expect, it } from 'vitest'
import { startVfioUserServer } from './index.js'
import type { VfioUserServerOptions } from './options.js'

const module = new URL('file:///none.mjs')
const socket = '/none'

describe('invalid options are rejected before the server starts', () => {
  it.each([
    [undefined, TypeError, 'vfio-user server options: expected an object, got undefined'],
    [{ module }, TypeError, 'vfio-user server options.socket: expected a string, got undefined'],
    [
      { socket, module: '/a.mjs' },
      TypeError,
      "expected a URL, such as nativeHostModule of '@gpunvme/cuda-native/host'",
    ],
    [{ socket, module, seed: -1 }, RangeError, 'vfio-user server options.seed'],
    [{ socket, module, trace: { path: 'a', format: 'xml' } }, RangeError, "one of 'text', 'jsonl', 'perfetto'"],
    [{ socket, module, mappedDoorbells: 1 }, TypeError, 'mappedDoorbells: expected true or false, got 1'],
    [{ socket, module, namespaces: [{ media: {} }] }, TypeError, "it cannot be passed to the simulator's thread"],
    [{ socket, module, spareCapacityBytes: 1 }, TypeError, 'only simulate() has spare capacity'],
    [{ socket, module, profile: 'sn741' }, RangeError, 'profile: expected one of ideal'],
  ])('%j', async (options, type, message) => {
    const started = startVfioUserServer(options as unknown as VfioUserServerOptions)
    await expect(started).rejects.toThrow(type)
    await expect(started).rejects.toThrow(message)
  })

  it('an invalid fault plan', async () => {
    const faults = { rules: [{ match: {}, action: { kind: 'none' } }] } as never
    await expect(startVfioUserServer({ socket, module, faults })).rejects.toThrow('action.kind')
  })

  it('a module that is not a VfioUserHost', async () => {
    const empty = new URL('data:text/javascript,export default { poll() {} }')
    await expect(startVfioUserServer({ socket, module: empty })).rejects.toThrow(
      'expected a VfioUserHost as its default export, missing view, yield, listen, accept, connect, receive, send, ' +
        'mapForeign, lostForeignBytes, eventfd, signalEventfd, drainEventfd',
    )
  })
})
