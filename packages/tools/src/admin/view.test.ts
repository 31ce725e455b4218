import { IdentifyController } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { activeNamespaces, requireActive, type AdminView } from './view.js'

/** Returns a drive with these lists of namespaces, by the NSID after which a list starts. */
function viewOf(listAfter: (nsid: number) => readonly number[]): AdminView {
  const identify = (_cns: number, structure: { decode(data: DataView): unknown }, options?: { nsid?: number }) => {
    const data = new DataView(new ArrayBuffer(4096))
    listAfter(options?.nsid ?? 0).forEach((nsid, index) => data.setUint32(index * 4, nsid, true))
    return Promise.resolve(structure.decode(data))
  }
  const identity = { raw: IdentifyController.create({ NN: 0xffff_fffe }).data }
  return { reader: { identity, identify } } as AdminView
}

const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)

test('activeNamespaces continues a full list after its last NSID', async () => {
  const view = viewOf((nsid) => (nsid === 0 ? from(1, 1024) : nsid === 1024 ? [1030, 2000] : []))
  expect(await activeNamespaces(view)).toEqual([...from(1, 1024), 1030, 2000])
})

test('activeNamespaces rejects a list that repeats or never ends', async () => {
  const listError = { code: 'ERR_GPUNVME_NAMESPACE_LIST' }
  await expect(activeNamespaces(viewOf(() => from(1, 1024)))).rejects.toMatchObject(listError)
  await expect(activeNamespaces(viewOf((nsid) => from(nsid + 1, 1024)))).rejects.toMatchObject(listError)
})

test('requireActive rejects an inactive namespace, and lists the active ones', async () => {
  await expect(
    requireActive(
      viewOf(() => [1, 4]),
      2,
    ),
  ).rejects.toThrow('Namespace 2 is not active\n  active: 1, 4')
  await requireActive(
    viewOf(() => [1, 4]),
    4,
  )
})
