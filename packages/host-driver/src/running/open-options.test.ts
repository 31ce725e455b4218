import { inspect } from 'node:util'
import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { zeroBased } from '@gpunvme/nvme-spec'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../controller.js'
import { traced } from '../wrap/traced.js'
import type { ControllerOptions } from './open-options.js'

/** Returns a transport that records register accesses. */
function watched() {
  const { transport } = simulate({ profile: 'sn740' })
  const accesses: string[] = []
  const bar = new Proxy(transport.bar, {
    get: (target, name) => {
      accesses.push(String(name))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { transport: { ...transport, bar }, accesses }
}

test.each([
  [{ queueDepht: 4 }, "Controller.open: unknown 'queueDepht'; known are queues, queueDepth,"],
  [{ recovery: { abortNS: 5 } }, "recovery: unknown 'abortNS'; known are abortNs, queuesNs, restartNs"],
  [{ recovery: null }, 'recovery: expected an object of options, got null'],
  [{ manage: 1 }, 'manage: expected true or false, got 1'],
  [{ manage: true }, 'manage: requires { write: { serial } }'],
  [{ interrupts: 'yes' }, "interrupts: expected true or false, got 'yes'"],
  [{ sgl: 1 }, 'sgl: expected true or false, got 1'],
  [{ sysRoot: 5 }, 'sysRoot: expected a string, got 5'],
  [{ queues: '2' }, "queues: expected an integer from 1 to 65534, got '2'"],
  [{ queueMemory: 'vram' }, "queueMemory: expected one of 'host', 'gpu', got 'vram'"],
  [{ engine: 'host' }, "engine: expected an Engine, as HostEngine is, got 'host'"],
  [{ engine: {} }, 'engine: expected an Engine'],
  [{ write: null }, 'write: expected an object of options, got null'],
  [{ write: {} }, 'write.serial: expected a string, got undefined'],
  [{ write: true }, 'write: expected an object of options, got true'],
  [{ write: 'S64' }, "write: expected an object of options, got 'S64'"],
  [{ write: { serial: 123 } }, 'serial: expected a string, got 123'],
  [{ write: { serial: 'S', overwrite: 'GPT' } }, "overwrite: expected a list of names, got 'GPT'"],
  [null, 'Controller.open: expected an object of options, got null'],
])('rejects the options %j before any register access', async (options, says) => {
  const { transport, accesses } = watched()
  const refusal = Controller.open(transport, options as ControllerOptions)
  await expect(refusal).rejects.toThrow(TypeError)
  await expect(refusal).rejects.toThrow(says)
  expect(accesses).toEqual([])
})

test('rejects a queueDepth above 4095 with the reason and the alternative', async () => {
  const { transport, accesses } = watched()
  await expect(Controller.open(transport, { queueDepth: 4096 })).rejects.toThrow(
    new RangeError(
      'queueDepth: expected an integer from 1 to 4095, the most that 16-bit command identifiers can tell apart ' +
        '(for more commands in flight, raise `queues`), got 4096',
    ),
  )
  expect(accesses).toEqual([])
})

test.each([
  [4096, 4095],
  [100, 63],
])('limits queueDepth to what queues of at most %i entries hold, and to 4095', async (entries, expected) => {
  const { transport } = simulate({ profile: deriveProfile('ideal', { CAP: { MQES: zeroBased(entries) } }) })
  await using ctrl = await Controller.open(transport, { queueDepth: 4095, maxTransferBytes: 4096 })
  expect(ctrl.queueDepth).toBe(expected)
})

test('rejects a simulation, a string and undefined as transport', async () => {
  const open = (transport: unknown) => Controller.open(transport as Transport)
  await expect(open(simulate())).rejects.toThrow(
    'transport: expected a Transport, got an object that has one: pass its',
  )
  await expect(open('sim')).rejects.toThrow("transport: expected a Transport, got 'sim'")
  await expect(open(undefined)).rejects.toThrow('transport: expected a Transport, got undefined')
})

test('rejects a second handle on a transport in use, or on a copy of it, and the first stays usable', async () => {
  const { transport, diagnostics } = simulate({ profile: 'sn740' })
  const first = await Controller.open(transport)
  await expect(Controller.open(transport)).rejects.toMatchObject({ code: 'ERR_GPUNVME_CONTROLLER_IN_USE' })
  await expect(Controller.open({ ...transport })).rejects.toThrow('close() the other handle first')
  await first.namespace(1).readBytes(0, 4)
  await first.close()
  const second = await Controller.open(transport)
  // The second handle now uses the transport.
  await first.close()
  await expect(Controller.open(transport)).rejects.toMatchObject({ code: 'ERR_GPUNVME_CONTROLLER_IN_USE' })
  await second.close()
  expect(diagnostics).toEqual([])
})

test('the serial number of a simulation is the one that writing requires', async () => {
  const { transport, serial } = simulate({ profile: 'sn740' })
  const ctrl = await Controller.open(transport, { write: { serial } })
  expect(ctrl.identity.serial).toBe(serial)
  await ctrl.close()
})

test('allows another open after a failed one and after a loss', async () => {
  const { transport } = simulate({ profile: 'sn740' })
  const mismatch = Controller.open(transport, { write: { serial: 'another' } })
  await expect(mismatch).rejects.toThrow('another')
  await (await Controller.open(transport)).close()

  const gone = simulate({
    profile: 'sn740',
    faults: { rules: [{ match: { qid: 1, opcode: 0x02, nth: 1 }, action: { kind: 'remove-device' } }] },
  }).transport
  const lost = await Controller.open(gone)
  await expect(lost.namespace(1).readBytes(0, 4)).rejects.toThrow()
  // A later open reports the loss, not a second handle.
  await expect(Controller.open(gone)).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  await lost.close()
})

test('a transport that was closed is reported as such, not as a lost device', async () => {
  const { transport } = simulate({ profile: 'sn740' })
  const ctrl = await Controller.open(traced(transport, () => undefined))
  const ns = ctrl.namespace(1)
  const closed = { code: 'ERR_GPUNVME_TRANSPORT_CLOSED', category: 'usage' }
  await transport.close()
  await expect(ns.readBytes(0, 512)).rejects.toMatchObject(closed)
  await expect(ctrl.smartLog()).rejects.toMatchObject(closed)
  await expect(ctrl.close()).rejects.toMatchObject(closed)
  await expect(Controller.open(transport)).rejects.toMatchObject(closed)
})

test('console.log shows name, state, model and namespaces', async () => {
  const { transport } = simulate({ profile: 'sn740' })
  const ctrl = await Controller.open(transport)
  const shown = inspect(ctrl)
  expect(shown).toMatch(/^Controller \{/)
  expect(shown).toContain("state: 'open'")
  expect(shown).toContain('nsid: 1')
  expect(shown.split('\n').length).toBeLessThan(12)
  await ctrl.close()
  expect(inspect(ctrl)).toContain("state: 'closed'")
})
