import { expect, test } from 'vitest'
import type { ScenarioRun } from './guest.js'
import { IOMMUS, turnOf, type ControllerName, type Iommu } from './kmod-cases.js'
import { judgeEnds } from './kmod-judge-ends.js'
import { SHAPES, VALUES } from './kmod-refusals.js'

/** Where a guest's kernel differs from others in what can be asked of it. */
export interface Guest {
  readonly iommu: Iommu
  /** Linux 7.2, which has udmabuf and KFENCE, and moves what dynamic importers have mapped. */
  readonly isNewest: boolean
}

/** The tests of one guest. @param of what came of a turn, which has ended well. */
export function judgeKmod({ iommu, isNewest }: Guest, of: (turn: string) => ScenarioRun): void {
  const facts = (name: string, controller?: ControllerName) => of(turnOf(name, controller)).lines.at(-1)
  const { mode } = IOMMUS[iommu]
  const physical = mode !== 2

  test('a controller is bound by driver_override, and by nothing else; no other function is', () => {
    expect(facts('binding')).toEqual({
      before: { bound: [], drivers: ['nvme'] },
      kernels: 'No such device',
      unasked: { result: 'No such device', driver: 'none' },
      newId: 'none',
      stranger: { result: 'No such device', driver: 'none' },
      driver: 'gpunvme',
      mode: '600',
      bound: ['0000:00:04.0'],
    })
  })

  test('opening a controller that can access all memory requires CAP_SYS_RAWIO, taints the kernel and is logged', () => {
    expect(facts('privileges')).toEqual({
      taintedBefore: false,
      withoutRawio: physical ? 'EPERM' : 'OK',
      taintedThen: false,
      withRawio: 'OK',
      taintedAfter: physical,
    })
    const lines = of('privileges').kernel.filter((line) => /process \d+ \(\S+\) can access all memory/.test(line))
    expect(lines).toHaveLength(physical ? 1 : 0)
  })

  test('a kernel that is locked down refuses to open a controller that can access all memory', () => {
    const opened = physical ? 'EPERM' : 'OK'
    expect(facts('locked')).toEqual({ before: 'OK', integrity: opened, confidentiality: opened })
    const lines = of('locked').kernel.filter((line) => /Lockdown: .*direct PCI access is restricted/.test(line))
    expect(lines.length > 0).toBe(physical)
  })

  test('the module says what the controller is, and what stands between it and memory', () => {
    expect(facts('info')).toMatchObject({
      address: '0000:00:04.0',
      abiVersion: 1,
      vendor: 0x1b36,
      device: 0x10,
      config0: 0x00101b36,
      // Of QEMU: registers and doorbells in the first two pages, then 65 vectors.
      bar0Length: 0x4000,
      bar0MappableLength: 0x2000,
      msixTableOffset: 0x2000,
      irqVectors: 65,
      iommuMode: mode,
      powerState: 0,
      busMaster: 0,
      resetMethods: 1,
      events: 0,
      secondOpen: 'EBUSY',
    })
  })

  test('registers are where vm_pgoff, the page tables and sysfs say, uncached by every flag that there is', () => {
    const { flags, ...others } = facts('bar') as { flags: string }
    expect(others).toEqual({
      // 1.4.0, and what AQA takes.
      version: 0x00010400,
      aqa: 0x001f000f,
      offsetIsAddress: true,
      frameIsAddress: true,
      lastFrameToo: true,
      secondPage: true,
    })
    // VM_SHARED, PFNMAP, IO, DONTCOPY, DONTEXPAND and DONTDUMP, by their names in smaps.
    expect(flags.trim().split(' ')).toEqual(expect.arrayContaining(['sh', 'pf', 'io', 'dc', 'de', 'dd']))
    expect(flags).not.toMatch(/\b(ex|me)\b/)
  })

  test('only registers and coherent memory are mapped, shared and not executable; MSI-X is not', () => {
    expect(facts('mappings')).toEqual({
      registers: 'OK',
      readOnly: 'OK',
      msixTable: 'EPERM',
      untilMsixTable: 'EPERM',
      wholeBar: 'EPERM',
      behindBar: 'EINVAL',
      beyondBar: 'EINVAL',
      farBehind: 'EINVAL',
      // The kernel's own, before it asks the module.
      wrapsAround: 'EOVERFLOW',
      private: 'EPERM',
      executable: 'EPERM',
      coherent: 'OK',
      coherentBeginning: 'OK',
      coherentTooLong: 'EINVAL',
      coherentMiddle: 'EINVAL',
      coherentPrivate: 'EPERM',
      pinned: 'EINVAL',
      noHandle: 'EINVAL',
      hugeHandle: 'EINVAL',
    })
  })

  test('a child of the owner can neither ask, nor map, nor reach what its parent has mapped', () => {
    expect(facts('forked')).toEqual({ child: 0, owner: true })
  })

  test('a child inherits no registers, and memory for queues only by MADV_DOFORK, which Linux 7.2 refuses', () => {
    const inherited = { memory: 'OK', whileChildHasIt: 'EBUSY', child: true, afterwards: 'OK' }
    const refused = { memory: 'EINVAL', whileChildHasIt: 'OK', child: true, afterwards: 'ENOENT' }
    expect(facts('inherited')).toEqual({ registers: 'EINVAL', ...(isNewest ? refused : inherited) })
  })

  test('every request with a wrong size, flag, reserved member or pointer is refused by an errno of its own', () => {
    expect(facts('shapes')).toEqual(SHAPES)
  })

  test('what cannot be done is refused by an errno that says why, and nothing is pinned, mapped or allocated', () => {
    expect(facts('values')).toEqual(VALUES)
  })

  test.each(['fixed', 'loose'] as const)('10,000 random requests leave nothing pinned, on %s', (controller) => {
    expect(facts('random', controller)).toEqual({ someSucceeded: true, manyKinds: true, leftPinned: 0 })
  })

  test('memory is pinned where it is, and paid for until it is released', () => {
    const { oneSegment, ...others } = facts('pinning') as { oneSegment: boolean }
    // Behind an IOMMU that translates; elsewhere it is a matter of luck.
    if (!physical) expect(oneSegment).toBe(true)
    expect(others).toEqual({
      whole: true,
      // As /proc/self/pagemap has it, page for page.
      physical,
      pinnedPages: 1024,
      vmPinKiB: 4096,
      known: true,
      noRoom: 'ENOSPC',
      countedAnyway: true,
      pinnedOnce: 1024,
      pinnedAfter: 0,
      vmPinAfterKiB: 0,
    })
  })

  test('RLIMIT_MEMLOCK is the limit of what one without privileges pins or allocates', () => {
    expect(facts('memlock')).toEqual({
      seventeen: 'ENOLCK',
      seventeenth: 'ENOLCK',
      coherentToo: 'ENOLCK',
      vmPinKiB: 64,
      afterRelease: 'OK',
    })
  })

  test('as many handles as the header says, and not one more', () => {
    expect(facts('handles')).toEqual({ count: 65536, next: 'EMFILE', pinnedAfter: 0 })
  })

  test("the controller's DMA reaches coherent and pinned memory, by the addresses given, while bus mastering is on", () => {
    expect(facts('dma')).toEqual({
      zeroed: true,
      coherentDone: true,
      coherentSerial: 'KM0001',
      interrupted: true,
      pinnedDone: true,
      pinnedSerial: 'KM0001',
      besideUntouched: true,
      masteringOffDone: false,
      masteringOffUntouched: true,
    })
  })

  test('coherent memory is pinned for writing and for long, as the driver of a GPU does; registers are not', () => {
    expect(facts('queues')).toEqual({
      registers: 'EFAULT',
      page: 'OK',
      queue: 'OK',
      whole: true,
      samePages: true,
      dropped: 'as it was',
      pinnedWithoutHandle: 65,
      pinnedAfter: 0,
    })
  })

  test('memory for queues holds as many pages as RLIMIT_MEMLOCK is charged with', () => {
    expect(facts('odd')).toEqual({ vmPinKiB: 64 * 65 * 4, heldIsCharged: true, vmPinAfterKiB: 0 })
  })

  test('8 MiB for queues are refused without translation; with it, the pages work like those of short memory', () => {
    const refused = { alloc: 'ENOMEM', vmPinKiB: 0 }
    const granted = { alloc: 'OK', vmPinKiB: 8192, done: true, serial: 'KM0001', pin: 'OK', given: 'OK', stays: true }
    expect(facts('large')).toEqual(physical ? refused : { ...granted, release: 'OK' })
  })

  judgeDmabuf(isNewest, facts)
  judgeEnds(isNewest, facts)
}

function judgeDmabuf(dmabuf: boolean, facts: (name: string) => unknown): void {
  const read = (how: string) => ({
    [how]: 'OK',
    [`${how}Serial`]: 'KM0001',
    [`${how}Whole`]: true,
    [`${how}Released`]: 'OK',
  })

  test('udmabuf: the controller writes into memory of another exporter', ({ skip }) => {
    if (!dmabuf) return skip('this kernel has no udmabuf; a guest with Linux 7.2 has')
    expect(facts('udmabuf')).toEqual({
      noRoom: 'ENOSPC',
      counted: true,
      ...read('held'),
      ...read('dynamic'),
      first: 'OK',
      second: 'OK',
      kept: true,
    })
  })

  test('a dma-buf of an exporter that moves its memory stays where it is while it is held', () => {
    expect(facts('moving')).toMatchObject({ ...read('held'), ...read('dynamic'), moveHeld: 'EBUSY' })
  })

  test('revocation by an exporter ends DMA first, leaves nothing mapped and notifies the owner', ({ skip }) => {
    if (!dmabuf) return skip('this kernel pins what dynamic importers map; a guest with Linux 7.2 does not')
    expect(facts('moving')).toMatchObject({
      move: 'OK',
      stillMapped: 0,
      told: true,
      events: 1,
      busMaster: 0,
      enabled: 0,
      revoked: 1,
      masterWhileRevoked: 'ESTALE',
      release: 'OK',
      masterAfterwards: 'OK',
      ...read('again'),
    })
  })
}
