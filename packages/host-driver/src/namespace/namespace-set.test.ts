import { expect, test } from 'vitest'
import { MAX_NAMESPACES } from '../admin/namespace-list.js'
import { namespaceFormat, type NamespaceIdentity } from '../bring-up/identity.js'
import type { RunningController } from '../running/running-controller.js'
import { NamespaceSet } from './namespace-set.js'

const data = new DataView(new ArrayBuffer(4096))
const from = (first: number, count: number): NamespaceIdentity[] =>
  Array.from({ length: count }, (_, index) => namespaceFormat(first + index, data))

test('keeps the object of a namespace that is attached again, unless more than the limit were detached', () => {
  const session: { namespaces: readonly NamespaceIdentity[] } = { namespaces: from(1, 1) }
  const set = new NamespaceSet({ session } as unknown as RunningController, undefined)
  const take = (found: readonly NamespaceIdentity[]) => {
    session.namespaces = found
    return set.active
  }
  const first = set.get(1)
  take([])
  expect(first.identity.attached).toBe(false)
  take(from(1, MAX_NAMESPACES))
  expect(set.get(1)).toBe(first)
  take(from(10_000, 1))
  take(from(1, 1))
  expect(set.get(1)).toBe(first)
  // One more than the limit is detached.
  take(from(20_000, 1))
  take(from(1, 1))
  expect(set.get(1)).not.toBe(first)
  expect(first.identity.attached).toBe(false)
  expect(set.active).toHaveLength(1)
})
