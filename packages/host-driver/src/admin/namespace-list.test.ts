import { CNS, IdentifyController } from '@gpunvme/nvme-spec'
import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { describe, expect, test } from 'vitest'
import { hostileDrive } from '../../test/hostile-drive.js'
import { Controller } from '../controller.js'
import { listNamespaces, MAX_NAMESPACES } from './namespace-list.js'

const IDENTIFY = 0x06
const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)
const controller = (NN: number) => IdentifyController.create({ NN }).data

function list(nsids: readonly number[]): DataView {
  const data = new DataView(new ArrayBuffer(4096))
  nsids.forEach((nsid, index) => data.setUint32(4 * index, nsid, true))
  return data
}

/** Returns the number of lists read, and the NSIDs or the error. */
async function listed(NN: number, answer: (above: number) => readonly number[]) {
  let reads = 0
  const found = await listNamespaces(controller(NN), (above) => {
    if (++reads > 100) throw new Error('the list does not end')
    return Promise.resolve(list(answer(above)))
  }).catch((error: unknown) => error)
  return { reads, found }
}

const listError = (says: string) => ({
  code: 'ERR_GPUNVME_NAMESPACE_LIST',
  message: expect.stringContaining(says) as unknown,
})

describe('a namespace list (Base 2.1 §5.1.13.2.2)', () => {
  test('continues above its last NSID until a list is not full', async () => {
    const answer = (above: number) => (above === 0 ? from(1, 1024) : [1030, 2000])
    expect(await listed(5000, answer)).toEqual({ reads: 2, found: [...from(1, 1024), 1030, 2000] })
  })

  test('ends at NN, without reading a list above the largest NSID', async () => {
    expect(await listed(1024, () => from(1, 1024))).toEqual({ reads: 1, found: from(1, 1024) })
    expect(await listed(0xffff_fffe, () => [0xffff_fffe])).toEqual({ reads: 1, found: [0xffff_fffe] })
    expect(await listed(0, () => [])).toEqual({ reads: 1, found: [] })
  })

  test('ends at its first 0, whatever follows', async () => {
    expect(await listed(9, () => [3, 0, 7])).toEqual({ reads: 1, found: [3] })
  })

  test.each<[string, number, (above: number) => readonly number[], string, number]>([
    ['repeats itself', 0xffff_fffe, () => from(1, 1024), 'NSID 1 after NSID 1024, expected increasing NSIDs', 2],
    ['falls', 9, () => [3, 2], 'NSID 2 after NSID 3', 1],
    ['has an NSID twice', 9, () => [3, 3], 'NSID 3 after NSID 3', 1],
    ['passes NN', 9, () => [10], 'NSID 10, expected at most 9 (NN)', 1],
    ['has NSID FFFFFFFFh', 0xffff_ffff, () => [0xffff_ffff], 'expected at most 4294967294', 1],
    ['never ends', 0xffff_fffe, (above) => from(above + 1, 1024), `more than ${MAX_NAMESPACES} namespaces`, 5],
  ])('that %s is rejected', async (_, NN, answer, says, reads) => {
    expect(await listed(NN, answer)).toMatchObject({ reads, found: listError(says) })
  })
})

/** A drive with NN = FFFFFFFEh whose lists of this kind begin above the requested NSID and are full. */
const endless = (cns: number) => {
  const { transport } = simulate({ namespaces: [{ capacityBytes: 1024 * 1024 }], spareCapacityBytes: 1024 * 1024 })
  return hostileDrive(transport, ({ opcode, nsid, cdw10 }, data) => {
    if (opcode !== IDENTIFY) return
    if (cdw10 % 256 === CNS.CONTROLLER) IdentifyController.view(data).NN = 0xffff_fffe
    if (cdw10 % 256 === cns) from(nsid + 1, 1024).forEach((each, index) => data.setUint32(4 * index, each, true))
  })
}

describe('a drive with endless namespace lists', () => {
  test('is rejected by open, which identifies no namespace of the list', async () => {
    const drive = endless(CNS.ACTIVE_NAMESPACE_LIST)
    await expect(Controller.open(drive)).rejects.toMatchObject(listError('more than'))
    expect(drive.commands).toBeLessThan(10)
    expect(drive.bar.read32(0x14) & 1).toBe(0)
  })

  test('is rejected by deleteNamespace after five lists, which deletes nothing', async () => {
    const drive = endless(CNS.ALLOCATED_NAMESPACE_LIST)
    const ctrl = await Controller.open(drive, { write: { serial: 'GPUNVME-SIM-1' }, manage: true })
    const before = drive.commands
    await expect(ctrl.management.deleteNamespace(1)).rejects.toMatchObject(listError('more than'))
    expect(drive.commands - before).toBe(5)
    await ctrl.close()
  })
})

describe('a drive with 30 namespaces that takes 5 s for each Admin command', () => {
  const NS = 1_000_000_000
  const namespaces = from(1, 30).map((nsid) => ({ nsid, capacityBytes: 65_536 }))
  const slow = (adminNs: number) => simulate({ profile: deriveProfile('ideal', { adminNs }), namespaces })

  test('is rejected by open within 60 s', async () => {
    const { transport, clock } = slow(5 * NS)
    await expect(Controller.open(transport)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_CONTROLLER_TOO_SLOW',
      message: expect.stringContaining('did not complete bring-up in 60 s') as unknown,
    })
    expect(clock.now()).toBeLessThanOrEqual(61 * NS)
  })

  test('is accepted by open if the limit of a single command is longer', async () => {
    const { transport } = slow(5 * NS)
    await (await Controller.open(transport, { commandTimeoutNs: 600 * NS })).close()
  })

  test('ends listing namespaces after a change within 60 s, if it has become slow only then', async () => {
    const rules = [
      { match: { opcode: IDENTIFY, qid: 0, fromNs: NS }, action: { kind: 'delay-completion', delayNs: 5 * NS } },
    ] as const
    const { transport, clock } = simulate({ namespaces, faults: { rules } })
    const ctrl = await Controller.open(transport, { write: { serial: 'GPUNVME-SIM-1' }, manage: true })
    while (clock.now() < NS) await clock.idle(NS)
    await expect(ctrl.management.detach(30)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_CONTROLLER_TOO_SLOW',
      message: expect.stringContaining('did not complete listing its namespaces in 60 s') as unknown,
    })
    expect(clock.now()).toBeLessThanOrEqual(67 * NS)
    await ctrl.close()
  })
})
