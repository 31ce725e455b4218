import { DeviceLostError } from '@gpunvme/host-driver'
import { CAP, CSTS } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { changesBetween, readRegisters, type RegisterChange } from './register-snapshot.js'
import type { ReadRegister } from './view.js'
import { watchRegisters } from './watch-registers.js'

/** Returns a controller whose CSTS has these values in successive polls; the last one is repeated. */
function readerOf(...values: readonly number[]): ReadRegister {
  let look = -1
  return (register) => {
    if (register.name === CAP.name) return 0x20_1401_03ffn
    if (register.name === CSTS.name) return values[Math.min(++look, values.length - 1)]!
    return register.widthBits === 64 ? 0n : 0
  }
}

const OPTIONS = { intervalMs: 1, passModelledTime: undefined }
const ignore = () => undefined

test('readRegisters decodes the registers that CAP allows', () => {
  const states = readRegisters(readerOf(1), 'x')
  expect(states.map(({ name }) => name)).toEqual('CAP VS INTMS INTMC CC CSTS AQA ASQ ACQ CRTO'.split(' '))
  expect(states.find(({ name }) => name === 'CSTS')).toEqual({
    ...{ name: 'CSTS', offset: '0x1c', value: '0x00000001' },
    fields: { RDY: 1, CFS: 0, SHST: 0, NSSRO: 0, PP: 0, ST: 0 },
    text: 'CSTS=0x00000001 { RDY=1 CFS=0 SHST=NORMAL NSSRO=0 PP=0 ST=0 }',
  })
})

test('changesBetween returns changed registers with the old and new value', () => {
  const read = readerOf(1, 3)
  const [before, after] = [readRegisters(read, 'x'), readRegisters(read, 'x')]
  expect(changesBetween(before, before)).toEqual([])
  expect(changesBetween(before, after).map(({ from, to }) => [from.name, from.value, to.value])).toEqual([
    ['CSTS', '0x00000001', '0x00000003'],
  ])
})

test('watchRegisters reports each change once, and ends after the given number of polls', async () => {
  const seen: RegisterChange[] = []
  const options = { ...OPTIONS, looks: 5, signal: new AbortController().signal }
  const looked = await watchRegisters(readerOf(1, 1, 3, 3, 1), 'x', options, ignore, (changes) => seen.push(...changes))
  expect(looked).toBe(5)
  expect(seen.map(({ to }) => to.value)).toEqual(['0x00000003', '0x00000001'])
})

test('watchRegisters resolves when interrupted', async () => {
  const controller = new AbortController()
  let began = 0
  const options = { ...OPTIONS, intervalMs: 3_600_000, looks: undefined, signal: controller.signal }
  const looked = await watchRegisters(
    readerOf(1),
    'x',
    options,
    () => {
      began++
      setImmediate(() => controller.abort())
    },
    ignore,
  )
  expect([looked, began]).toEqual([1, 1])
})

test('watchRegisters advances modelled time between polls', async () => {
  const passed: number[] = []
  const signal = new AbortController().signal
  const passModelledTime = (ms: number) => Promise.resolve(void passed.push(ms))
  await watchRegisters(readerOf(1), 'x', { intervalMs: 2, looks: 3, signal, passModelledTime }, ignore, ignore)
  expect(passed).toEqual([2, 2])
})

test('readRegisters rejects a drive that has left the bus', () => {
  const gone: ReadRegister = ({ widthBits }) => (widthBits === 64 ? 0xffff_ffff_ffff_ffffn : 0xffff_ffff)
  expect(() => readRegisters(gone, '0000:0b:00.0')).toThrow(DeviceLostError)
  expect(() => readRegisters(gone, '0000:0b:00.0')).toThrow('Every register reads 0xffffffff on 0000:0b:00.0')
})
