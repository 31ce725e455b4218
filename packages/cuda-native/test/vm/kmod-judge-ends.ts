import { expect, test } from 'vitest'
import type { ControllerName } from './kmod-cases.js'

const GONE = { mmap: 'ENODEV', info: 'ENODEV', release: 'ENODEV', pin: 'ENODEV', alloc: 'ENODEV', irq: 'ENODEV' }
/** What is left of mappings then: ones in the page of the registers, and memory as it was. */
const LEFT = {
  noFrame: true,
  registers: 0xffffffff,
  otherFrame: true,
  coherent: 'as it was',
  ownMemory: true,
  vmPinKiB: 0,
}

/** Tests of resets, sleep, and ends of ownership. @param facts What a case on a controller printed. */
export function judgeEnds(isNewest: boolean, facts: (name: string, controller?: ControllerName) => unknown): void {
  test('an owner that is killed in the middle of DMA leaves a controller that is still, and the next one works', () => {
    expect(facts('killed')).toEqual({
      pinnedBefore: true,
      masterBefore: true,
      died: true,
      soon: true,
      pinnedAfter: 0,
      masterAfter: 0,
      enabledAfter: 0,
      next: true,
      serial: 'KM0001',
    })
  })

  test.each(['fixed', 'loose', 'twin'] as const)(
    '%s is reset by its owner, and by others, which notifies the owner',
    (controller) => {
      expect(facts('reset', controller)).toMatchObject({
        // Behind a port, the link too; not where others are on the same bus.
        methods: controller === 'loose' ? 3 : 1,
        function: 'OK',
        functionWorks: true,
        eventsOfOwn: 0,
        toldOfOwn: false,
        ...(controller !== 'loose' && { bus: 'EBUSY' }),
        bySysfs: 'OK',
        told: true,
        events: 2,
        works: true,
      })
    },
  )

  test('a function that sleeps in D3 while it is closed is awake from open to close', () => {
    expect(facts('power', 'loose')).toEqual({
      auto: 'OK',
      closed: 'suspended',
      closedState: 'D3hot',
      open: 'active',
      powerState: 0,
      works: true,
    })
  })

  test('unbinding stops a controller in use at once, then waits, and says for whom, until it is closed and unmapped', () => {
    expect(facts('unbound')).toEqual({
      told: true,
      nodeGone: true,
      master: 0,
      pinnedAfter: 0,
      ...GONE,
      ...LEFT,
      saysSo: true,
      waits: true,
      unbound: true,
      bind: 'OK',
    })
  })

  test('a process that unbinds the controller that it has open does not wait for itself', () => {
    expect(facts('unbound-itself')).toEqual({ unbind: 'OK', told: true, master: 0, ...GONE, ...LEFT, bind: 'OK' })
  })

  test('a device that is removed while everything is in use stays present until it is closed and unmapped', () => {
    expect(facts('removed', 'loose')).toEqual({
      told: true,
      nodeGone: true,
      pinnedAfter: 0,
      ...GONE,
      ...LEFT,
      saysSo: true,
      waits: true,
      functionGone: true,
    })
  })

  test.each([
    ['twin', false],
    ['other', true],
  ] as const)('the wait for a device that was pulled out ends: its owner is killed, on %s', (controller, givesUp) => {
    expect(facts('pulled', controller)).toEqual({
      unbind: 'OK',
      saysSo: true,
      // A child of the owner still has the descriptor.
      givesUp,
      killed: true,
      bind: 'OK',
      works: true,
    })
  })

  test('the module stays as long as anybody has a controller open, and then goes', () => {
    expect(facts('in-use')).toEqual({ unload: 'refused', still: true })
    expect(facts('restored')).toEqual({
      unloaded: '',
      // Debian builds it into 7.2, but not into 6.1.
      kfence: isNewest ? '1' : 'none',
      drivers: ['nvme'],
      pinned: 0,
      // All but the one that was pulled out; the third had the kernel's driver all the time.
      serials: ['KM0001 4096', 'KM0003 4096', 'KM0004 4096', 'KM0005 4096'],
    })
  })
}
