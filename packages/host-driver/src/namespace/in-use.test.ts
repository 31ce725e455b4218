import { expect, test } from 'vitest'
import { NamespaceBusyError, NamespacesInUse } from './in-use.js'

/** Something under way that ends when it is told to. */
function pending() {
  let end!: () => void
  const work = new Promise<void>((resolve) => (end = resolve))
  return { work: () => work, end: () => end() }
}

test('who takes a namespace is refused while it is used, and gets it afterwards', async () => {
  const inUse = new NamespacesInUse()
  const transfer = pending()
  const running = inUse.during(1, transfer.work)
  await expect(inUse.taking([2, 1], 'its format', () => Promise.resolve())).rejects.toThrow(
    'Namespace 1 is busy: 1 of its transfers or commands are in progress',
  )
  await inUse.during(2, () => Promise.resolve())
  transfer.end()
  await running
  expect(await inUse.taking([2, 1], 'its format', () => Promise.resolve('done'))).toBe('done')
})

test('who uses a namespace is refused while it is taken, and others are not', async () => {
  const inUse = new NamespacesInUse()
  const format = pending()
  const running = inUse.taking([1], 'its format', format.work)
  await expect(inUse.during(1, () => Promise.resolve())).rejects.toThrow(NamespaceBusyError)
  await expect(inUse.taking([1], 'its deletion', () => Promise.resolve())).rejects.toThrow('its format is in progress')
  await inUse.during(2, () => Promise.resolve())
  format.end()
  await running
  await inUse.during(1, () => Promise.resolve())
})
