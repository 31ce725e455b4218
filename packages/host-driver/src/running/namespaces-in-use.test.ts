import { expect, test } from 'vitest'
import { NamespacesInUse } from './namespaces-in-use.js'

/** An action that ends when `end` is called. */
function pending() {
  let end!: () => void
  const work = new Promise<void>((resolve) => (end = resolve))
  return { work: () => work, end: () => end() }
}

test('rejects taking a namespace while it is used, and allows it afterwards', async () => {
  const inUse = new NamespacesInUse()
  inUse.enter(1)
  await expect(inUse.taking([2, 1], 'its format', () => Promise.resolve())).rejects.toThrow(
    'Namespace 1 is busy: 1 of its transfers or commands are in progress',
  )
  inUse.enter(2)
  inUse.leave(2)
  inUse.leave(1)
  expect(await inUse.taking([2, 1], 'its format', () => Promise.resolve('done'))).toBe('done')
})

test('rejects using a namespace while it is taken, and allows using others', async () => {
  const inUse = new NamespacesInUse()
  const format = pending()
  const taking = inUse.taking([1], 'its format', format.work)
  expect(() => inUse.enter(1)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_NAMESPACE_BUSY' }))
  await expect(inUse.taking([1], 'its deletion', () => Promise.resolve())).rejects.toThrow('its format is in progress')
  inUse.enter(2)
  format.end()
  await taking
  inUse.enter(1)
})
